; Intent: no check stands at a load of host code that the source might not have made, nor at bytes that it does
; not read.
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-host -passes='default<O3>' -verify-each -S %s \
; RUN:   | FileCheck %s
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-host -passes=crsan-host-checks \
; RUN:   -pass-remarks-missed=cuda-race -S %s 2>&1 | FileCheck %s --check-prefix=UNMARKED

; UNMARKED: remark: {{.*}}: load is not checked for races: the optimiser may have moved it
; UNMARKED-NOT: @__crsan_host_check(
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define {{.*}}@guarded(
; CHECK-NOT: @__crsan_host_check
; CHECK: br i1 %c
; CHECK: @__crsan_host_check(
; CHECK: %v = load i32, ptr %p
define i32 @guarded(ptr dereferenceable(4) %p, i1 %c) {
  br i1 %c, label %then, label %exit
then:
  %v = load i32, ptr %p
  br label %exit
exit:
  %r = phi i32 [ 7, %0 ], [ %v, %then ]
  ret i32 %r
}

; The vectoriser, which may read what lies between the members, comes behind the checks.
; CHECK-LABEL: define {{.*}}@members(
; CHECK: <4 x i32>
; CHECK: call preserve_mostcc void @__crsan_host_check(ptr {{.*}}, i64 {{.*}}, i64 4)
; CHECK-NEXT: br
; CHECK-NOT: @__crsan_host_check
; CHECK: ret i32
define i32 @members(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %sum, %loop ]
  %at = getelementptr { i32, i32 }, ptr %p, i64 %i
  %v = load i32, ptr %at
  %sum = add i32 %s, %v
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret i32 %sum
}
