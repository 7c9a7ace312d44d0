; Intent: in loops, variables of a thread are kept in registers; other accesses stay as they are, with their marks.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='crsan-mark,function(crsan-promote-locals)' -verify-each -S %s | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='crsan-mark,function(crsan-promote-locals,loop-mssa(licm))' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @sum(
; CHECK:       loop:
; CHECK-NOT:   ptr %at
; CHECK:       load i32, ptr addrspace(1) %in, align 4, !llvm.access.group
; CHECK:       load volatile i32, ptr addrspace(1) %flag
; CHECK-NOT:   ptr %at
; CHECK:       store i32 %{{.+}}, ptr addrspace(1) %out, align 4, !llvm.access.group
; CHECK-NOT:   ptr %at
; CHECK:       done:
; CHECK:       store i32 %{{.+}}, ptr %at
define ptx_kernel void @sum(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %flag, i32 %n, i64 %i) {
entry:
  %sums = alloca [4 x i32]
  %at = getelementptr inbounds [4 x i32], ptr %sums, i64 0, i64 %i
  store i32 0, ptr %at, align 4
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %v = load i32, ptr addrspace(1) %in, align 4
  %f = load volatile i32, ptr addrspace(1) %flag, align 4
  %old = load i32, ptr %at, align 4
  %part = add i32 %v, %f
  %new = add i32 %old, %part
  store i32 %new, ptr %at, align 4
  store i32 %new, ptr addrspace(1) %out, align 4
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret void
}
