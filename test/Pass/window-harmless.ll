; Intent: arithmetic, special registers, lifetimes and pure assembly end no window; a call does.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @harmless(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @harmless(ptr addrspace(1) %p, ptr addrspace(1) %q, float %f) {
  %local = alloca i32
  store i32 1, ptr addrspace(1) %p
  call void @llvm.lifetime.start.p0(ptr %local)
  %root = call float @llvm.sqrt.f32(float %f)
  %sine = call float @llvm.nvvm.sin.approx.f(float %root)
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %clock = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  %low = call i32 asm "bfind.u32 $0, $1;", "=r,r"(i32 %tid) memory(none)
  store i32 %low, ptr %local
  call void @llvm.lifetime.end.p0(ptr %local)
  %positive = fcmp ogt float %sine, 0.0
  call void @llvm.assume(i1 %positive)
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @harmful(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: ret void
define ptx_kernel void @harmful(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  store i32 1, ptr addrspace(1) %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 2, ptr addrspace(1) %q
  ret void
}
