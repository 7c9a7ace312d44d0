; Intent: an exempted function stays exempted where it is inlined.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @exempt(
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @exempt(ptr addrspace(1) %p) {
  call void @hint(ptr addrspace(1) %p)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @checked(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: ret void
define ptx_kernel void @checked(ptr addrspace(1) %p) {
  call void @plain(ptr addrspace(1) %p)
  ret void
}

define internal void @hint(ptr addrspace(1) %p) disable_sanitizer_instrumentation {
  store i32 1, ptr addrspace(1) %p
  ret void
}
define internal void @plain(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}
