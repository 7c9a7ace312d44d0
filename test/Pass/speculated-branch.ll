; Intent: a load stays below the branch that guards it and is checked there.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; SimplifyCFG would turn the diamond into a select, were it not asked to refrain.
; CHECK-LABEL: define ptx_kernel void @guarded(
; CHECK-NOT: @__crsan_check
; CHECK: br i1 %c
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: %v = load i32, ptr addrspace(1) @cell
define ptx_kernel void @guarded(ptr addrspace(1) %out, i1 %c) {
  br i1 %c, label %then, label %exit
then:
  %v = load i32, ptr addrspace(1) @cell
  br label %exit
exit:
  %r = phi i32 [ 7, %0 ], [ %v, %then ]
  store atomic i32 %r, ptr addrspace(1) %out monotonic, align 4
  ret void
}

; CHECK-LABEL: define ptx_kernel void @unguarded(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: %v = load i32, ptr addrspace(1) @cell
define ptx_kernel void @unguarded(ptr addrspace(1) %out, i1 %c) {
  %v = load i32, ptr addrspace(1) @cell
  %r = select i1 %c, i32 %v, i32 7
  store atomic i32 %r, ptr addrspace(1) %out monotonic, align 4
  ret void
}

@cell = addrspace(1) global i32 0
