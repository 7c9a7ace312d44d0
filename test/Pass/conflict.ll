; Intent: a store is compared with the other accesses of its group, lane against lane, where they can meet.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @meet(
; CHECK: call void @__crsan_conflict(
; CHECK-NOT: call void @__crsan_conflict(
; CHECK: ret void
define ptx_kernel void @meet(ptr addrspace(3) %p, ptr addrspace(3) %q) {
  store i32 1, ptr addrspace(3) %p
  %v = load i32, ptr addrspace(3) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @loads(
; CHECK-NOT: call void @__crsan_conflict(
; CHECK: ret void
define ptx_kernel void @loads(ptr addrspace(3) %p, ptr addrspace(3) %q) {
  %v = load i32, ptr addrspace(3) %p
  %w = load i32, ptr addrspace(3) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @spaces(
; CHECK-NOT: call void @__crsan_conflict(
; CHECK: ret void
define ptx_kernel void @spaces(ptr addrspace(3) %p, ptr addrspace(1) %q) {
  store i32 1, ptr addrspace(3) %p
  %v = load i32, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @objects(
; CHECK-NOT: call void @__crsan_conflict(
; CHECK: ret void
define ptx_kernel void @objects(i32 %i) {
  %p = getelementptr i32, ptr addrspace(3) @x, i32 %i
  %q = getelementptr i32, ptr addrspace(3) @y, i32 %i
  store i32 1, ptr addrspace(3) %p
  %v = load i32, ptr addrspace(3) %q
  ret void
}

@x = internal addrspace(3) global [32 x i32] poison
@y = internal addrspace(3) global [32 x i32] poison
