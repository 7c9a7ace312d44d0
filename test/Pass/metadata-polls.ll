; Intent: a thread that polls is checked once, and tells the runtime once; a fence, or a lock that it
; gets, makes it tell again. What only writes is told before, and not after.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @wait(
; CHECK:       loop:
; CHECK:       [[IS:%.+]] = icmp ne i64 %{{.*}}, [[DONE:%.+]]
; CHECK-NEXT:  br i1 [[IS]], label %{{.*}}, label %[[CHECKED:[0-9]+]]
; CHECK:       call void @__crsan_md_check_read(
; CHECK:       [[CHECKED]]:
; CHECK:       load volatile i32, ptr %p
; CHECK-NEXT:  [[AT:%.+]] = ptrtoint ptr %p to i64
; CHECK-NEXT:  [[KEY:%.+]] = add i64 [[AT]],
; CHECK-NEXT:  icmp ne i64 [[KEY]], [[DONE]]
; CHECK:       [[MAY:%.+]] = call i32 @__crsan_md_strong_done({{.*}}, i32 0, i32 {{.*}})
; CHECK:       [[REPEAT:%.+]] = icmp ne i32 [[MAY]], 0
; CHECK-NEXT:  select i1 [[REPEAT]], i64 [[KEY]], i64 0
; CHECK:       fence
; CHECK:       call void @__crsan_md_fence(
; CHECK:       icmp ne i64 {{.*}}, 0
; CHECK:       call i32 @__crsan_md_strong_done(
; CHECK:       store volatile i32 1, ptr %q
; CHECK-NOT:   @__crsan_md_strong_done(
; CHECK:       ret void
define ptx_kernel void @wait(ptr %p, ptr %q) {
entry:
  br label %loop
loop:
  %v = load volatile i32, ptr %p
  %more = icmp eq i32 %v, 0
  br i1 %more, label %loop, label %exit
exit:
  fence syncscope("device") acq_rel
  %w = load volatile i32, ptr %p
  store volatile i32 1, ptr %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @lock(
; CHECK:       cmpxchg
; CHECK:       [[SWAP:%.+]] = select i1 {{.*}}, i32 2, i32 1
; CHECK:       icmp eq i32 [[SWAP]], 2
; CHECK:       call i32 @__crsan_md_strong_done({{.*}}, i32 [[SWAP]], i32 {{.*}})
define ptx_kernel void @lock(ptr %p) {
entry:
  br label %loop
loop:
  %r = cmpxchg ptr %p, i32 0, i32 1 syncscope("device") monotonic monotonic
  %got = extractvalue { i32, i1 } %r, 1
  br i1 %got, label %exit, label %loop
exit:
  fence syncscope("device") acq_rel
  ret void
}
