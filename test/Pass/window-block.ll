; Intent: a window is a stretch of one block: what a branch guards is not checked before it.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @guarded(
; CHECK-NOT: __crsan_check
; CHECK: br i1 %c, label %then, label %exit
; CHECK: then:
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: ret void
define ptx_kernel void @guarded(ptr addrspace(1) %p, i1 %c) {
  br i1 %c, label %then, label %exit
then:
  store i32 1, ptr addrspace(1) %p
  br label %exit
exit:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @always(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: br i1 %c, label %then, label %exit
define ptx_kernel void @always(ptr addrspace(1) %p, i1 %c) {
  store i32 1, ptr addrspace(1) %p
  br i1 %c, label %then, label %exit
then:
  br label %exit
exit:
  ret void
}
