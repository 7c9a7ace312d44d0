; Intent: a function can be exempted by an attribute.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @exempt(
; CHECK-NOT: __crsan
; CHECK: ret void
define ptx_kernel void @exempt(ptr addrspace(1) %p) disable_sanitizer_instrumentation {
  store i32 1, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @checked(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: ret void
define ptx_kernel void @checked(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}
