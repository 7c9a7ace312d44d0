; Intent: a kernel has a second body without checks for warps that are not sampled. A warp
; goes to one of them as a whole, and both use the same variables. No copy is made of a
; kernel whose warps execute instructions together, or whose assembly may define a
; name.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @copied(
; CHECK-NEXT: alloca
; CHECK: [[IS_PLAIN:%.*]] = call i32 @__crsan_is_plain(ptr {{.*}}@__crsan_windows_{{[^,]*}})
; CHECK: [[CHOICE:%.*]] = icmp ne i32 [[IS_PLAIN]], 0
; CHECK: br i1 [[CHOICE]], label %[[PLAIN:.*]], label %[[BODY:.*]]
; CHECK: [[BODY]]:
; CHECK-NEXT: call void @__crsan_renew_plain(ptr {{.*}}@__crsan_windows_{{[^,]*}}, i32 1)
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1, ptr addrspace(1) %p
; CHECK: ret void
; CHECK: [[PLAIN]]:
; CHECK-NOT: @__crsan_check
; CHECK: call void asm {{.*}}"mov.u32 $0, %laneid;{{.*}}ld.shared::cta
; CHECK: store i32 1, ptr addrspace(1) %p
; CHECK: ret void
define ptx_kernel void @copied(ptr addrspace(1) %p) {
  %v = alloca i32
  call void asm "mov.u32 $0, %laneid; ld.shared::cta.u32 $0, [$1];", "~{memory}"()
  store i32 1, ptr addrspace(1) %p
  store i32 2, ptr %v
  ret void
}

; CHECK-LABEL: define ptx_kernel void @together(
; CHECK-NOT: @__crsan_is_plain
; CHECK: ret void
define ptx_kernel void @together(ptr addrspace(1) %p) {
  call void @llvm.nvvm.wgmma.fence.sync.aligned()
  store i32 1, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @together_in_assembly(
; CHECK-NOT: @__crsan_is_plain
; CHECK: ret void
define ptx_kernel void @together_in_assembly(ptr addrspace(1) %p) {
  call void asm sideeffect "setmaxnreg.inc.sync.aligned.u32 232;", "~{memory}"()
  store i32 1, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @declares(
; CHECK-NOT: @__crsan_is_plain
; CHECK: ret void
define ptx_kernel void @declares(ptr addrspace(1) %p) {
  call void asm sideeffect " .reg .u32 t; mov.u32 t, %tid.x;", ""()
  store i32 1, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @declares_within(
; CHECK: @__crsan_is_plain
; CHECK: ret void
define ptx_kernel void @declares_within(ptr addrspace(1) %p) {
  call void asm sideeffect "{ .reg .u32 t; mov.u32 t, %tid.x; }", ""()
  store i32 1, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @labelled(
; CHECK-NOT: @__crsan_is_plain
; CHECK: ret void
define ptx_kernel void @labelled(ptr addrspace(1) %p) {
  call void asm "bra next; next: mov.u32 $0, %laneid;", "~{memory}"()
  store i32 1, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @unoptimized(
; CHECK-NOT: @__crsan_is_plain
; CHECK: ret void
define ptx_kernel void @unoptimized(ptr addrspace(1) %p) noinline optnone {
  store i32 1, ptr addrspace(1) %p
  ret void
}

declare void @llvm.nvvm.wgmma.fence.sync.aligned()
