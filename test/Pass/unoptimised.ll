; Intent: without optimisation accesses are checked too.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O0>' -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK: store ptr %p, ptr %p.addr
; CHECK: %0 = load ptr, ptr %p.addr
; CHECK: call i1 @llvm.nvvm.isspacep.local(ptr
; CHECK: @__crsan_pause({{.*}}, i32 1)
; CHECK: store i32 1, ptr %0
; CHECK-NOT: @__crsan_pause
; CHECK: ret void
define ptx_kernel void @k(ptr %p) noinline optnone {
entry:
  %p.addr = alloca ptr
  store ptr %p, ptr %p.addr
  %0 = load ptr, ptr %p.addr
  store i32 1, ptr %0
  ret void
}
