; Intent: lanes are compared beside the store, where its value is known; loads are not compared.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @late(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_store
; CHECK: %v = load float
; CHECK: %twice = fadd float %v, %v
; CHECK: [[BITS:%.*]] = bitcast float %twice to i32
; CHECK: [[WIDE:%.*]] = zext i32 [[BITS]] to i64
; CHECK: call void @__crsan_store({{.*}}, i64 [[WIDE]])
; CHECK: store float %twice
define ptx_kernel void @late(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %v = load float, ptr addrspace(1) %p
  %twice = fadd float %v, %v
  store float %twice, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @load(
; CHECK-NOT: call void @__crsan_store
; CHECK: ret void
define ptx_kernel void @load(ptr addrspace(1) %p) {
  %v = load float, ptr addrspace(1) %p
  ret void
}
