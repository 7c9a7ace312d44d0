; Intent: two loads of one location, made one, are still checked, once.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @twice(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @twice(ptr addrspace(1) %p, ptr addrspace(1) %out) {
  %a = load i32, ptr addrspace(1) %p
  %b = load i32, ptr addrspace(1) %p
  %sum = add i32 %a, %b
  store atomic i32 %sum, ptr addrspace(1) %out monotonic, align 4
  ret void
}

; A barrier between them keeps both.
; CHECK-LABEL: define ptx_kernel void @apart(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: call void @llvm.nvvm.barrier
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: ret void
define ptx_kernel void @apart(ptr addrspace(1) %p, ptr addrspace(1) %out) {
  %a = load i32, ptr addrspace(1) %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %b = load i32, ptr addrspace(1) %p
  %sum = add i32 %a, %b
  store atomic i32 %sum, ptr addrspace(1) %out monotonic, align 4
  ret void
}
