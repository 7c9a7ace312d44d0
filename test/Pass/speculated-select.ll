; Intent: a load of a selected pointer, made into two loads, is not checked: one is speculated.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @either(
; CHECK-NOT: @__crsan_pause
; CHECK: ret void
define ptx_kernel void @either(ptr addrspace(1) %out, i1 %c) {
  %p = select i1 %c, ptr addrspace(1) @left, ptr addrspace(1) @right
  %v = load i32, ptr addrspace(1) %p
  store atomic i32 %v, ptr addrspace(1) %out monotonic, align 4
  ret void
}

; Arguments may point to nothing, so this one stays a load of a selected pointer.
; CHECK-LABEL: define ptx_kernel void @whole(
; CHECK: @__crsan_pause({{.*}}, i32 1)
; CHECK: ret void
define ptx_kernel void @whole(ptr addrspace(1) %l, ptr addrspace(1) %r,
                              ptr addrspace(1) %out, i1 %c) {
  %p = select i1 %c, ptr addrspace(1) %l, ptr addrspace(1) %r
  %v = load i32, ptr addrspace(1) %p
  store atomic i32 %v, ptr addrspace(1) %out monotonic, align 4
  ret void
}

@left = addrspace(1) global i32 0
@right = addrspace(1) global i32 0
