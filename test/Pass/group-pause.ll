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

; The second address is computed below the first access: the slow path has a copy of
; that, and the program's own code stays where it is.
; CHECK-LABEL: define ptx_kernel void @ahead(
; CHECK: [[WIDE:%.*]] = zext i32 %i to i64
; CHECK: [[FAR:%.*]] = getelementptr i32, ptr addrspace(1) %p, i64 [[WIDE]]
; CHECK: addrspacecast ptr addrspace(1) [[FAR]] to ptr
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK: %a = load i32
; CHECK-NOT: @__crsan_check
; CHECK: %wide = zext i32 %i to i64
; CHECK: %far = getelementptr i32, ptr addrspace(1) %p, i64 %wide
; CHECK: %b = load i32
; CHECK: ret void
define ptx_kernel void @ahead(ptr addrspace(1) %p, i32 %i) {
  %a = load i32, ptr addrspace(1) %p
  %wide = zext i32 %i to i64
  %far = getelementptr i32, ptr addrspace(1) %p, i64 %wide
  %b = load i32, ptr addrspace(1) %far
  ret void
}

; Another freeze might have another value: the second access is checked apart.
; CHECK-LABEL: define ptx_kernel void @frozen(
; CHECK: @__crsan_check({{.*}}, i32 513)
; CHECK: %i = freeze i64 %n
; CHECK-NOT: freeze
; CHECK: @__crsan_check({{.*}}, i32 513)
; CHECK: ret void
define ptx_kernel void @frozen(ptr addrspace(1) %p, i64 %n) {
  %a = load i32, ptr addrspace(1) %p
  %i = freeze i64 %n
  %far = getelementptr i32, ptr addrspace(1) %p, i64 %i
  %b = load i32, ptr addrspace(1) %far
  ret void
}
