; Intent: a load that GVN moves behind a rare call of a loop is speculated there, and not checked.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -unroll-runtime=0 -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"
@cell = addrspace(1) global i32 0
declare i32 @clobber() nounwind willreturn
; CHECK-LABEL: define ptx_kernel void @k(
; CHECK: call i32 @clobber()
; CHECK-NOT: @__crsan_check
; CHECK: br i1 %e
define ptx_kernel void @k(i32 %n, ptr addrspace(1) %out) {
entry:
  br label %header
header:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %s = phi i32 [ 0, %entry ], [ %s1, %latch ]
  %v = load i32, ptr addrspace(1) @cell
  %m = mul i32 %s, 17
  %s1 = xor i32 %m, %v
  %c = icmp slt i32 %s1, %n
  br i1 %c, label %latch, label %cold
cold:
  %x = call i32 @clobber()
  %e = icmp eq i32 %x, 0
  br i1 %e, label %exit, label %latch
latch:
  %next = add i32 %i, 1
  %d = icmp eq i32 %next, 1000
  br i1 %d, label %exit, label %header
exit:
  %r = phi i32 [ %s1, %cold ], [ %m, %latch ]
  store i32 %r, ptr addrspace(1) %out
  ret void
}
