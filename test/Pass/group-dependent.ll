; Intent: an address that is loaded in the window starts a second group under the same decision.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @dependent(
; CHECK: [[SAMPLED:%.*]] = icmp eq i32 {{.*}}, 0
; CHECK: br i1 [[SAMPLED]]
; CHECK: @__crsan_check({{.*}}, i32 513)
; CHECK: %next = load ptr addrspace(1)
; CHECK: br i1 [[SAMPLED]]
; CHECK: @__crsan_check({{.*}}, i32 513)
; CHECK: %v = load i32
define ptx_kernel void @dependent(ptr addrspace(1) %p) {
  %next = load ptr addrspace(1), ptr addrspace(1) %p
  %v = load i32, ptr addrspace(1) %next
  ret void
}

; CHECK-LABEL: define ptx_kernel void @independent(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @independent(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %next = load ptr addrspace(1), ptr addrspace(1) %p
  %v = load i32, ptr addrspace(1) %q
  ret void
}
