; Intent: the sides of a branch do the same on different lines, and keep accesses of their own.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @update(
; CHECK: atomicrmw add {{.*}} %p, {{.*}}, !dbg [[THEN:![0-9]+]]
; CHECK-NOT: !mmra
; CHECK: atomicrmw add {{.*}} %q, {{.*}}, !dbg [[ELSE:![0-9]+]]
; CHECK-NOT: !mmra
; CHECK: ret void
; CHECK-LABEL: define ptx_kernel void @write(
; CHECK: store i32 1
; CHECK: store i32 1
; CHECK: ret void
; CHECK-LABEL: define ptx_kernel void @one_line(
; CHECK: store i32 1
; CHECK-NOT: store i32 1
; CHECK: ret void
; CHECK-DAG: [[HEADER:![0-9]+]] = distinct !DISubprogram(name: "atomicAdd"
; CHECK-DAG: [[THEN]] = !DILocation(line: 50, column: 1, scope: [[HEADER]], inlinedAt: [[CALL_3:![0-9]+]])
; CHECK-DAG: [[CALL_3]] = {{.*}}!DILocation(line: 3,
; CHECK-DAG: [[ELSE]] = !DILocation(line: 50, column: 1, scope: [[HEADER]], inlinedAt: [[CALL_5:![0-9]+]])
; CHECK-DAG: [[CALL_5]] = {{.*}}!DILocation(line: 5,
define internal void @atomicAdd(ptr %p) !dbg !10 {
  %old = atomicrmw add ptr %p, i32 1 syncscope("device") monotonic, align 4, !dbg !11
  ret void
}
define ptx_kernel void @update(ptr %p, ptr %q, i1 %c) !dbg !20 {
  br i1 %c, label %then, label %else
then:
  call void @atomicAdd(ptr %p), !dbg !21
  br label %exit
else:
  call void @atomicAdd(ptr %q), !dbg !22
  br label %exit
exit:
  ret void
}
define ptx_kernel void @write(ptr %p, ptr %q, i1 %c) !dbg !30 {
  br i1 %c, label %then, label %else
then:
  store i32 1, ptr %p, !dbg !31
  br label %exit
else:
  store i32 1, ptr %q, !dbg !32
  br label %exit
exit:
  ret void
}
define ptx_kernel void @one_line(ptr %p, ptr %q, i1 %c) !dbg !40 {
  br i1 %c, label %then, label %else
then:
  store i32 1, ptr %p, !dbg !41
  br label %exit
else:
  store i32 1, ptr %q, !dbg !41
  br label %exit
exit:
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "lines.cu", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !4)
!4 = !{}
!10 = distinct !DISubprogram(name: "atomicAdd", file: !1, line: 49, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!11 = !DILocation(line: 50, column: 1, scope: !10)
!20 = distinct !DISubprogram(name: "update", file: !1, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!21 = !DILocation(line: 3, column: 5, scope: !20)
!22 = !DILocation(line: 5, column: 5, scope: !20)
!30 = distinct !DISubprogram(name: "write", file: !1, line: 11, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!31 = !DILocation(line: 13, column: 5, scope: !30)
!32 = !DILocation(line: 15, column: 5, scope: !30)
!40 = distinct !DISubprogram(name: "one_line", file: !1, line: 21, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!41 = !DILocation(line: 23, column: 5, scope: !40)
