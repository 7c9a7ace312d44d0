; Intent: what an optimisation inserts without the mark is not checked; marked twins are.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: %user = load i32
; CHECK: call void @llvm.nvvm.barrier
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @k(ptr addrspace(1) %p) {
  %user = load i32, ptr addrspace(1) %p, !llvm.access.group !0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %inserted = load i32, ptr addrspace(1) %p
  %foreign = load i32, ptr addrspace(1) %p, !llvm.access.group !1
  ret void
}

!crsan.access = !{!0}
!0 = distinct !{}
!1 = distinct !{}
