; Intent: vectors and 128-bit integers are compared in pieces of at most 8 aligned bytes.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @aligned(
; CHECK: @__crsan_pause({{.*}}, i32 4)
; CHECK-COUNT-4: load atomic i64, ptr addrspace(1) {{%.*}} monotonic, align 8
; CHECK-NOT: load atomic
; CHECK: ret void
define ptx_kernel void @aligned(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %v = load <4 x float>, ptr addrspace(1) %p, align 16
  %w = load i128, ptr addrspace(1) %q, align 16
  ret void
}

; CHECK-LABEL: define ptx_kernel void @odd(
; CHECK: load atomic i64, ptr addrspace(1) {{%.*}} monotonic, align 8
; CHECK: load atomic i32, ptr addrspace(1) {{%.*}} monotonic, align 4
; CHECK-NOT: load atomic
; CHECK: ret void
define ptx_kernel void @odd(ptr addrspace(1) %p) {
  %v = load <3 x float>, ptr addrspace(1) %p, align 16
  ret void
}

; CHECK-LABEL: define ptx_kernel void @unaligned(
; CHECK-COUNT-4: load atomic i8, ptr addrspace(1) {{%.*}} monotonic, align 1
; CHECK-NOT: load atomic
; CHECK: ret void
define ptx_kernel void @unaligned(ptr addrspace(1) %p) {
  %v = load i32, ptr addrspace(1) %p, align 1
  ret void
}
