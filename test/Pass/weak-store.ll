; Intent: a weak store is checked before it happens; strong stores are not.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @weak(
; CHECK: load i32, ptr addrspace(1)
; CHECK: call i64 @__crsan_pause({{.*}}, i32 1)
; CHECK: load atomic i32, ptr addrspace(1) {{%.*}} monotonic
; CHECK: call void @__crsan_race(
; CHECK: call void @__crsan_store(
; CHECK: store i32 1, ptr addrspace(1) %p
define ptx_kernel void @weak(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @strong(
; CHECK-NOT: __crsan
; CHECK: ret void
define ptx_kernel void @strong(ptr addrspace(1) %p) {
  store atomic i32 1, ptr addrspace(1) %p monotonic, align 4
  store atomic i32 1, ptr addrspace(1) %p syncscope("device") release, align 4
  store volatile i32 1, ptr addrspace(1) %p
  ret void
}
