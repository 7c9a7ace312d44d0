; Intent: what is not checked is remarked with the reason; what cannot race is not.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan -pass-remarks-missed=cuda-race \
; RUN:   -disable-output %s 2>&1 | FileCheck %s --implicit-check-not=remark:

; CHECK: remark: k.cu:3:1: access is not checked for races: its kind, length or type is not supported
; CHECK: remark: k.cu:4:1: load is not checked for races: the optimiser may have moved it above the branch that guards it
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) %p) !dbg !4 {
  %a = alloca i32, !dbg !7
  store i32 1, ptr %a, !dbg !7
  store volatile i32 1, ptr addrspace(1) %p, !dbg !7
  %flags = load <4 x i1>, ptr addrspace(1) %p, !dbg !8, !llvm.access.group !10
  %v = load i32, ptr addrspace(1) %p, !dbg !9
  ret void, !dbg !7
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !{})
!7 = !DILocation(line: 2, column: 1, scope: !4)
!8 = !DILocation(line: 3, column: 1, scope: !4)
!9 = !DILocation(line: 4, column: 1, scope: !4)
!crsan.access = !{!10}
!10 = distinct !{}
