; Intent: a load that both branches share is hoisted above them and still checked.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @both(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: load i32, ptr addrspace(1) %p
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @both(ptr addrspace(1) %p, ptr addrspace(1) %out, i1 %c) {
  br i1 %c, label %then, label %else
then:
  %a = load i32, ptr addrspace(1) %p
  %x = add i32 %a, 1
  br label %exit
else:
  %b = load i32, ptr addrspace(1) %p
  %y = mul i32 %b, 5
  br label %exit
exit:
  %r = phi i32 [ %x, %then ], [ %y, %else ]
  store atomic i32 %r, ptr addrspace(1) %out monotonic, align 4
  ret void
}

; CHECK-LABEL: define ptx_kernel void @one(
; CHECK-NOT: @__crsan_check
; CHECK: br i1 %c
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: ret void
define ptx_kernel void @one(ptr addrspace(1) %p, ptr addrspace(1) %out, i1 %c) {
  br i1 %c, label %then, label %exit
then:
  %a = load i32, ptr addrspace(1) %p
  %x = add i32 %a, 1
  br label %exit
exit:
  %r = phi i32 [ %x, %then ], [ 0, %0 ]
  store atomic i32 %r, ptr addrspace(1) %out monotonic, align 4
  ret void
}
