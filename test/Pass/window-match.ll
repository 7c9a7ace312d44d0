; Intent: a window ends at further collectives of the warp.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @match(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @match(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %m = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %i)
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @activemask(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @activemask(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %a = call i32 @llvm.nvvm.activemask()
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @redux(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @redux(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %r = call i32 @llvm.nvvm.redux.sync.add(i32 %i, i32 -1)
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

declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare i32 @llvm.nvvm.activemask()
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
