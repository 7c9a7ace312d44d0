; Intent: a loop of host code that cannot launch a kernel has a copy without checks, which runs if the gate is
; closed, or is open for other memory alone; another loop looks at the gate in each iteration.
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-host -passes=crsan-mark,crsan-host-checks \
; RUN:   -verify-each -S %s | FileCheck %s
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-host -passes='default<O2>' -S %s \
; RUN:   | FileCheck %s --check-prefix=FAST

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i32 @sum(
; CHECK: entry:
; CHECK: %[[BEGIN:.*]] = load i64, ptr @__crsan_host_gate
; CHECK: %[[SIZE:.*]] = load i64, ptr getelementptr {{.*}}@__crsan_host_gate, i64 8
; CHECK: %[[BASE:.*]] = ptrtoint ptr %p to i64
; CHECK: %[[AT:.*]] = sub i64 %[[BASE]], %[[BEGIN]]
; CHECK: %[[OUTSIDE:.*]] = icmp ugt i64 %[[AT]], %[[SIZE]]
; CHECK: br i1 %[[OUTSIDE]], label %{{.*}}.plain, label %{{.*}}, !prof
; CHECK: loop.plain:
; CHECK-NOT: __crsan
; CHECK: br i1 %done.plain
; CHECK: loop:
; CHECK-NOT: load i64, ptr @__crsan_host_gate
; CHECK: @__crsan_host_check(
; CHECK: %v = load i32
; CHECK: exit:
; CHECK: phi i32 [ %sum{{.*}}, %{{.*}} ], [ %sum.plain, %loop.plain ]
; FAST-LABEL: define {{.*}}@sum(
; FAST: add <4 x i32>
define i32 @sum(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %sum, %loop ]
  %at = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %at
  %sum = add i32 %s, %v
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret i32 %sum
}

; CHECK-LABEL: define void @calls(
; CHECK-NOT: .plain
; CHECK: loop:
; CHECK: call void @launch()
; CHECK: load i64, ptr @__crsan_host_gate
; CHECK: @__crsan_host_check(
; CHECK: store i32
; CHECK: br i1 %done
define void @calls(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr %p, i64 %i
  call void @launch()
  store i32 1, ptr %at
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; CHECK-LABEL: define double @harmless(
; CHECK: loop.plain:
; CHECK: call double @root(
define double @harmless(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %sum, %loop ]
  %at = getelementptr double, ptr %p, i64 %i
  %v = load double, ptr %at
  %r = call double @root(double %v)
  %sum = fadd double %s, %r
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret double %sum
}

; Two ways out, and a loop around.
; CHECK-LABEL: define i32 @find(
; CHECK: inner.plain:
; CHECK-NOT: __crsan
; CHECK: inner:
; CHECK: @__crsan_host_check(
define i32 @find(ptr %p, i32 %key, i64 %n, i64 %m) {
entry:
  br label %outer
outer:
  %j = phi i64 [ 0, %entry ], [ %nextj, %latch ]
  br label %inner
inner:
  %i = phi i64 [ 0, %outer ], [ %next, %next.block ]
  %at = getelementptr [64 x i32], ptr %p, i64 %j, i64 %i
  %v = load i32, ptr %at
  %found = icmp eq i32 %v, %key
  br i1 %found, label %yes, label %next.block
next.block:
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %latch, label %inner
latch:
  %nextj = add nuw i64 %j, 1
  %donej = icmp eq i64 %nextj, %m
  br i1 %donej, label %no, label %outer
yes:
  ret i32 %v
no:
  ret i32 0
}

; Where the loop reads its pointers from memory, the gate has to be closed.
; CHECK-LABEL: define i32 @list(
; CHECK: %[[SIZE:.*]] = load i64, ptr getelementptr {{.*}}@__crsan_host_gate, i64 8
; CHECK: %[[CLOSED:.*]] = icmp eq i64 %[[SIZE]], 0
; CHECK: br i1 %[[CLOSED]], label %{{.*}}.plain, label %{{.*}}, !prof
define i32 @list(ptr %first) {
entry:
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %more, %loop ]
  %p = phi ptr [ %first, %entry ], [ %next, %loop ]
  %next = load ptr, ptr %p
  %more = add i32 %n, 1
  %done = icmp eq ptr %next, null
  br i1 %done, label %exit, label %loop
exit:
  ret i32 %more
}

; A pointer that another loop has found has two values by then, of the loop and of its copy.
; CHECK-LABEL: define i32 @afterList(
; CHECK: second.loop.plain:
; CHECK-NOT: __crsan
; CHECK: second.loop:
; CHECK: @__crsan_host_check(
define i32 @afterList(ptr %list, i64 %n) {
entry:
  br label %first
first:
  %p = phi ptr [ %list, %entry ], [ %next, %first ]
  %next = load ptr, ptr %p
  %last = icmp eq ptr %next, null
  br i1 %last, label %second, label %first
second:
  br label %second.loop
second.loop:
  %i = phi i64 [ 0, %second ], [ %i1, %second.loop ]
  %s = phi i32 [ 0, %second ], [ %sum, %second.loop ]
  %at = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %at
  %sum = add i32 %s, %v
  %i1 = add nuw i64 %i, 1
  %done = icmp eq i64 %i1, %n
  br i1 %done, label %exit, label %second.loop
exit:
  ret i32 %sum
}

declare void @launch()
declare double @root(double) memory(none) nounwind willreturn
