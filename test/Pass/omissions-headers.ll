; Intent: an access in a header of the toolkit's is remarked at the line of the user's that it
; is made for, whether it was inlined there or not; the user's own header is the user's line.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan -pass-remarks-missed=cuda-race \
; RUN:   -S %s -o %t 2>&1 | FileCheck %s --implicit-check-not=remark:
; RUN: %python %S/Inputs/table-counts.py %t | FileCheck %s --check-prefix=COUNT
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan \
; RUN:   -pass-remarks-missed=cuda-race -S %s -o %t 2>&1 | FileCheck %s --implicit-check-not=remark:
; RUN: %python %S/Inputs/table-counts.py %t | FileCheck %s --check-prefix=COUNT

; CHECK-DAG: remark: k.cu:7:1: access is not checked
; CHECK-DAG: remark: mine.h:3:1: access is not checked
; CHECK-DAG: remark: k.cu:8:1: access is not checked
; CHECK-DAG: remark: k.cu:9:1: access is not checked
; CHECK-DAG: remark: /usr/local/cuda/include/crt/mma.hpp:5:1: access is not checked
; COUNT: unchecked 5 exempt 0
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(3) %s) !dbg !4 {
  %a = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8.p3(ptr addrspace(3) %s), !dbg !21
  %b = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8.p3(ptr addrspace(3) %s), !dbg !23
  call void @shared(ptr addrspace(3) %s), !dbg !12
  call void @outer(ptr addrspace(3) %s), !dbg !13
  ret void, !dbg !12
}

; Of the toolkit's, and not inlined: into the user's function, and into another of its own.
define internal void @shared(ptr addrspace(3) %s) !dbg !6 {
  %a = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8.p3(ptr addrspace(3) %s), !dbg !24
  ret void, !dbg !24
}
define internal void @outer(ptr addrspace(3) %s) !dbg !7 {
  call void @shared(ptr addrspace(3) %s), !dbg !25
  call void @outer(ptr addrspace(3) %s), !dbg !25
  ret void, !dbg !25
}
; Called by nobody that is seen.
define void @alone(ptr addrspace(3) %s) !dbg !9 {
  %a = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8.p3(ptr addrspace(3) %s), !dbg !26
  ret void, !dbg !26
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DIFile(filename: "/usr/local/cuda/include/crt/mma.hpp", directory: "/")
!8 = !DIFile(filename: "mine.h", directory: "/")
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !{})
!6 = distinct !DISubprogram(name: "shared", scope: !3, file: !3, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!7 = distinct !DISubprogram(name: "outer", scope: !3, file: !3, line: 2, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!9 = distinct !DISubprogram(name: "alone", scope: !3, file: !3, line: 3, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!10 = distinct !DISubprogram(name: "mine", scope: !8, file: !8, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!11 = !DILocation(line: 7, column: 1, scope: !4)
!12 = !DILocation(line: 8, column: 1, scope: !4)
!13 = !DILocation(line: 9, column: 1, scope: !4)
!20 = distinct !DILocation(line: 7, column: 1, scope: !4)
!21 = !DILocation(line: 5, column: 1, scope: !6, inlinedAt: !20)
!22 = distinct !DILocation(line: 3, column: 1, scope: !10, inlinedAt: !12)
!23 = !DILocation(line: 5, column: 1, scope: !6, inlinedAt: !22)
!24 = !DILocation(line: 5, column: 1, scope: !6)
!25 = !DILocation(line: 6, column: 1, scope: !7)
!26 = !DILocation(line: 5, column: 1, scope: !9)
