; Intent: a generic pointer is asked at run time whether it is local; a global one is not.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @generic(
; CHECK: [[LOCAL:%.*]] = call i1 @llvm.nvvm.isspacep.local(ptr [[AT:%.*]])
; CHECK: [[SAFE:%.*]] = select i1 [[LOCAL]], ptr {{.*}}@__crsan_sites_{{.*}}, ptr [[AT]]
; CHECK: load i32, ptr [[SAFE]]
; CHECK: @__crsan_pause
; CHECK: call i1 @llvm.nvvm.isspacep.local(
; CHECK: load atomic i32, ptr
define ptx_kernel void @generic(ptr %p) {
  %v = load i32, ptr %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @global(
; CHECK-NOT: isspacep.local
; CHECK: load atomic i32, ptr addrspace(1)
; CHECK-NOT: isspacep.local
; CHECK: ret void
define ptx_kernel void @global(ptr addrspace(1) %p) {
  %v = load i32, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @cast(
; CHECK: load atomic i32, ptr
; CHECK: ret void
define ptx_kernel void @cast(ptr addrspace(3) %s) {
  %p = addrspacecast ptr addrspace(3) %s to ptr
  %v = load i32, ptr %p
  ret void
}
