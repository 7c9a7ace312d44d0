; Intent: a window ends at an atomic, relaxed ones included.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @rmw(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @rmw(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %r = atomicrmw add ptr addrspace(1) %q, i32 1 monotonic
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @cas(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @cas(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %c = cmpxchg ptr addrspace(1) %q, i32 0, i32 1 monotonic monotonic
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @load(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 2
; CHECK: ret void
define ptx_kernel void @load(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %l = load atomic i32, ptr addrspace(1) %q monotonic, align 4
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
  store atomic i32 3, ptr addrspace(1) %q monotonic, align 4
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
