; Intent: weak accesses in inline PTX whose address or condition is not known are remarked as
; not checked; other assembly is not.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan -pass-remarks-missed=cuda-race \
; RUN:   -disable-output %s 2>&1 | FileCheck %s --implicit-check-not=remark:

; CHECK: remark: k.cu:3:1: access is not checked for races: it is in inline PTX
; CHECK: remark: k.cu:4:1: access is not checked for races: it is made in the background, by an asynchronous copy or matrix operation of a form that is not supported
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %s) !dbg !4 {
  call void asm sideeffect "membar.gl;", "~{memory}"(), !dbg !7
  call void asm sideeffect "{ // ld.global.u32\0A st.release.gpu.u32 [$0], 1; }", "l"(ptr addrspace(1) %p), !dbg !7
  %l = call i32 asm sideeffect "ld.local.u32 $0, [$1];", "=r,l"(i64 0), !dbg !7
  call void asm sideeffect "cp.async.wait_all;", "~{memory}"(), !dbg !7
  call void asm sideeffect "{.reg .pred q; @q st.global.u32 [$0], 1;}", "l"(ptr addrspace(1) %p), !dbg !8
  call void asm sideeffect "{.reg .pred q; @q cp.async.ca.shared.global [$0], [$1], 4;}", "l,l"(ptr addrspace(3) %s, ptr addrspace(1) %p), !dbg !9
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 4;", "l,l"(ptr addrspace(3) %s, ptr addrspace(1) %p), !dbg !7
  call void asm sideeffect "st.global.u32 [$0], 1;", "l"(ptr addrspace(1) %p), !dbg !7
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
