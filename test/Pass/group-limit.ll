; Intent: one check has at most eight accesses; the ninth is checked by another one, in
; the same slow path, since its address is known there.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @eight(
; CHECK: @__crsan_check({{.*}}, i32 8)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @eight(ptr addrspace(1) %p0, ptr addrspace(1) %p1, ptr addrspace(1) %p2, ptr addrspace(1) %p3, ptr addrspace(1) %p4, ptr addrspace(1) %p5, ptr addrspace(1) %p6, ptr addrspace(1) %p7) {
  %v0 = load i32, ptr addrspace(1) %p0
  %v1 = load i32, ptr addrspace(1) %p1
  %v2 = load i32, ptr addrspace(1) %p2
  %v3 = load i32, ptr addrspace(1) %p3
  %v4 = load i32, ptr addrspace(1) %p4
  %v5 = load i32, ptr addrspace(1) %p5
  %v6 = load i32, ptr addrspace(1) %p6
  %v7 = load i32, ptr addrspace(1) %p7
  ret void
}

; CHECK-LABEL: define ptx_kernel void @nine(
; CHECK: @__crsan_check({{.*}}, i32 520)
; CHECK-NOT: br
; CHECK: @__crsan_check({{.*}}, i32 513)
; CHECK: %v0 = load i32
; CHECK-NOT: br
; CHECK: %v8 = load i32
define ptx_kernel void @nine(ptr addrspace(1) %p0, ptr addrspace(1) %p1, ptr addrspace(1) %p2, ptr addrspace(1) %p3, ptr addrspace(1) %p4, ptr addrspace(1) %p5, ptr addrspace(1) %p6, ptr addrspace(1) %p7, ptr addrspace(1) %p8) {
  %v0 = load i32, ptr addrspace(1) %p0
  %v1 = load i32, ptr addrspace(1) %p1
  %v2 = load i32, ptr addrspace(1) %p2
  %v3 = load i32, ptr addrspace(1) %p3
  %v4 = load i32, ptr addrspace(1) %p4
  %v5 = load i32, ptr addrspace(1) %p5
  %v6 = load i32, ptr addrspace(1) %p6
  %v7 = load i32, ptr addrspace(1) %p7
  %v8 = load i32, ptr addrspace(1) %p8
  ret void
}
