; Intent: a window of every iteration counts down a register; straight-line code draws a number.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @loop(
; CHECK: entry:
; CHECK: call i32 @llvm.nvvm.read.ptx.sreg.clock()
; CHECK: br label %loop
; CHECK: loop:
; CHECK: [[LEFT:%.*]] = phi i32
; CHECK-NOT: sreg.clock
; CHECK: sub i32 [[LEFT]], 1
; CHECK: icmp eq i32 [[LEFT]], 0
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 %i
; CHECK: ret void
define ptx_kernel void @loop(ptr addrspace(1) %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %i
  store i32 %i, ptr addrspace(1) %at
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 100
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @straight(
; CHECK: load i32, ptr addrspace(1) {{.*}}@__crsan_windows_
; CHECK: call i32 @llvm.nvvm.read.ptx.sreg.clock()
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
define ptx_kernel void @straight(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}
