; Intent: without optimisation accesses are checked too.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O0>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK: store ptr %p, ptr %p.addr
; CHECK: [[P:%.*]] = load ptr, ptr %p.addr
; CHECK: ptrtoint ptr [[P]] to i64
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1, ptr [[P]],
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @k(ptr %p) noinline optnone {
entry:
  %p.addr = alloca ptr
  store ptr %p, ptr %p.addr
  %0 = load ptr, ptr %p.addr
  store i32 1, ptr %0
  ret void
}
