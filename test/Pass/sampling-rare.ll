; Intent: a window that not every iteration runs is sampled for itself.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @rare(
; CHECK: rare:
; CHECK: load i32, ptr addrspace(1) {{.*}}@__crsan_windows_
; CHECK: call i32 @llvm.nvvm.read.ptx.sreg.clock()
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: latch:
define ptx_kernel void @rare(ptr addrspace(1) %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %c = icmp eq i32 %i, 50
  br i1 %c, label %rare, label %latch
rare:
  store i32 1, ptr addrspace(1) %p
  br label %latch
latch:
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
