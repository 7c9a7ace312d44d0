; Intent: a window ends at a volatile access, which is strong in PTX.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @load(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @load(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %l = load volatile i32, ptr addrspace(1) %q
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @store(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @store(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  store volatile i32 3, ptr addrspace(1) %q
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @set(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @set(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  call void @llvm.memset.p1.i64(ptr addrspace(1) %q, i8 0, i64 4, i1 true)
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

declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
