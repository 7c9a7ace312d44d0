; Intent: the cells of several iterations of a small loop are loaded together, and the page that a
; loop moves through is asked for by a call, and only where it changes. A loop that the source
; says not to unroll, or that may end after any iteration, stays one.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @sum(
; CHECK:       call <2 x i64> @__crsan_md_pages_from(
; CHECK-NOT:   call <2 x i64> @__crsan_md_pages_from(
; CHECK-COUNT-4: ld.global.v2.u64
define ptx_kernel void @sum(ptr addrspace(1) %p, ptr addrspace(1) %r, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %t, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %i
  %v = load i32, ptr addrspace(1) %at
  %t = add i32 %s, %v
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  store i32 %t, ptr addrspace(1) %r
  ret void
}

; CHECK-LABEL: define ptx_kernel void @asked(
; CHECK-COUNT-1: ld.global.v2.u64
; CHECK-NOT:   ld.global.v2.u64
; CHECK:       ret void
define ptx_kernel void @asked(ptr addrspace(1) %p, ptr addrspace(1) %r, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %t, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %i
  %v = load i32, ptr addrspace(1) %at
  %t = add i32 %s, %v
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit, !llvm.loop !0
exit:
  ret void
}

; Where what was read decides, the next address is not near this one, and there may be no next.
; CHECK-LABEL: define ptx_kernel void @list(
; CHECK-NOT:   @__crsan_md_pages_from(
; CHECK-COUNT-2: ld.global.v2.u64
; CHECK-NOT:   ld.global.v2.u64
; CHECK:       ret void
define ptx_kernel void @list(ptr addrspace(1) %p) {
entry:
  br label %loop
loop:
  %at = phi ptr addrspace(1) [ %p, %entry ], [ %next, %loop ]
  %next = load ptr addrspace(1), ptr addrspace(1) %at
  %more = icmp ne ptr addrspace(1) %next, null
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
