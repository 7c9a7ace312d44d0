; Intent: a window ends where lanes of the warp meet or exchange values.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @syncwarp(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @syncwarp(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @shuffle(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @shuffle(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %s = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %i, i32 0, i32 31)
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @vote(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @vote(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %b = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 true)
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

declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
