; Intent: where two accesses become one, a finding has the line of one of them.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @both(
; CHECK: call i32 @__crsan_check({{.*}}, i32 1){{.*}}, !dbg [[LINE:![0-9]+]]
; CHECK: load i32, ptr addrspace(1) %{{.*}}!dbg [[LINE]]
; CHECK-NOT: @__crsan_check
; CHECK: ret void
; CHECK: [[LINE]] = !DILocation(line: {{[34]}}, column: 1,
define ptx_kernel void @both(ptr addrspace(1) %p, ptr addrspace(1) %q, ptr addrspace(1) %out, i1 %c) !dbg !4 {
  br i1 %c, label %then, label %else, !dbg !7
then:
  %a = load i32, ptr addrspace(1) %p, !dbg !8
  br label %exit, !dbg !8
else:
  %b = load i32, ptr addrspace(1) %q, !dbg !9
  br label %exit, !dbg !9
exit:
  %r = phi i32 [ %a, %then ], [ %b, %else ]
  store atomic i32 %r, ptr addrspace(1) %out monotonic, align 4, !dbg !7
  ret void, !dbg !7
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "both", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !{})
!7 = !DILocation(line: 2, column: 1, scope: !4)
!8 = !DILocation(line: 3, column: 1, scope: !4)
!9 = !DILocation(line: 4, column: 1, scope: !4)
