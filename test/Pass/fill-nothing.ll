; Intent: a fill whose length may be zero at run time is not compared between lanes: it may write nothing.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @variable(
; CHECK-NOT: call void @__crsan_store(
; CHECK: ret void
define ptx_kernel void @variable(ptr addrspace(1) %p, i64 %n) {
  call void @llvm.memset.p1.i64(ptr addrspace(1) %p, i8 0, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @constant(
; CHECK: call void @__crsan_store(
define ptx_kernel void @constant(ptr addrspace(1) %p) {
  call void @llvm.memset.p1.i64(ptr addrspace(1) %p, i8 0, i64 4, i1 false)
  ret void
}
