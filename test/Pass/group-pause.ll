; Intent: accesses whose addresses are known share one pause.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @together(
; CHECK: addrspacecast ptr addrspace(1) %p to ptr
; CHECK: addrspacecast ptr addrspace(1) %q to ptr
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK: load i32, ptr addrspace(1) %p
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @together(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %a = load i32, ptr addrspace(1) %p
  %b = load i64, ptr addrspace(1) %q
  ret void
}

; The second address is computed below the first access: it moves up.
; CHECK-LABEL: define ptx_kernel void @moved(
; CHECK: %far = getelementptr i32, ptr addrspace(1) %p, i64 %wide
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK: %a = load i32
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @moved(ptr addrspace(1) %p, i32 %i) {
  %a = load i32, ptr addrspace(1) %p
  %wide = zext i32 %i to i64
  %far = getelementptr i32, ptr addrspace(1) %p, i64 %wide
  %b = load i32, ptr addrspace(1) %far
  ret void
}
