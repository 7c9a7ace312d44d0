; Intent: a window ends at a fence, as an instruction and as an intrinsic.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @fence(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @fence(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  fence syncscope("device") seq_cst
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @membar(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @membar(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  call void @llvm.nvvm.membar.gl()
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @cluster(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @cluster(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  call void @llvm.nvvm.fence.sc.cluster()
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @nothing(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @nothing(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  store i32 1, ptr addrspace(1) %p
  store i32 2, ptr addrspace(1) %q
  ret void
}

declare void @llvm.nvvm.membar.gl()
declare void @llvm.nvvm.fence.sc.cluster()
