; Intent: debug records end no window and change nothing that is checked.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_check
; CHECK: #dbg_value
; CHECK: ret void
define ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) !dbg !4 {
  store i32 1, ptr addrspace(1) %p, !dbg !7
    #dbg_value(i32 1, !6, !DIExpression(), !7)
  store i32 2, ptr addrspace(1) %q, !dbg !7
  ret void, !dbg !7
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !{null}
!6 = !DILocalVariable(name: "x", scope: !4, file: !1, line: 2, type: !8)
!7 = !DILocation(line: 2, column: 3, scope: !4)
!8 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
