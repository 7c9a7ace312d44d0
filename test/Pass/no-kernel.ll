; Intent: a module without kernels is checked: kernels of other modules call it.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @helper(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: ret void
define void @helper(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}

; Nobody can call this one.
; CHECK-NOT: @dead(
define internal void @dead(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}
