; Intent: a weak load is read, paused over and read again; strong loads are not.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @weak(
; CHECK: [[BEFORE:%.*]] = load i32, ptr addrspace(1) {{%.*}}, align 4
; CHECK: call i64 @__crsan_pause({{.*}}, i32 1)
; CHECK: [[AFTER:%.*]] = load atomic i32, ptr addrspace(1) {{%.*}} monotonic, align 4
; CHECK: icmp ne i32 [[BEFORE]], [[AFTER]]
; CHECK: call void @__crsan_race(
; CHECK: %v = load i32, ptr addrspace(1) %p
define ptx_kernel void @weak(ptr addrspace(1) %p) {
  %v = load i32, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @strong(
; CHECK-NOT: __crsan
; CHECK: ret void
define ptx_kernel void @strong(ptr addrspace(1) %p) {
  %a = load atomic i32, ptr addrspace(1) %p monotonic, align 4
  %b = load atomic i32, ptr addrspace(1) %p syncscope("device") acquire, align 4
  %c = load volatile i32, ptr addrspace(1) %p
  ret void
}
