; Intent: of two locations that a pointer selects from, only the selected one is checked.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; Both globals may be read at any time, so LLVM could read both and select then.
; CHECK-LABEL: define ptx_kernel void @either(
; CHECK: [[P:%.*]] = select i1 %c, ptr addrspace(1) @left, ptr addrspace(1) @right
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK-NOT: @__crsan_check
; CHECK: load i32, ptr addrspace(1) [[P]]
; CHECK: ret void
define ptx_kernel void @either(ptr addrspace(1) %out, i1 %c) {
  %p = select i1 %c, ptr addrspace(1) @left, ptr addrspace(1) @right
  %v = load i32, ptr addrspace(1) %p
  store atomic i32 %v, ptr addrspace(1) %out monotonic, align 4
  ret void
}

; Here the program itself reads both.
; CHECK-LABEL: define ptx_kernel void @both(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK: ret void
define ptx_kernel void @both(ptr addrspace(1) %out, i1 %c) {
  %l = load i32, ptr addrspace(1) @left
  %r = load i32, ptr addrspace(1) @right
  %v = select i1 %c, i32 %l, i32 %r
  store atomic i32 %v, ptr addrspace(1) %out monotonic, align 4
  ret void
}

@left = addrspace(1) global i32 0
@right = addrspace(1) global i32 0
