; Intent: a store of a vector of pointers is checked like one of integers.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK: [[BITS:%.*]] = ptrtoint <2 x ptr> %v to <2 x i64>
; CHECK: bitcast <2 x i64> [[BITS]] to i128
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK: store <2 x ptr> %v
define ptx_kernel void @k(ptr addrspace(1) %p, <2 x ptr> %v) {
  store <2 x ptr> %v, ptr addrspace(1) %p
  ret void
}
