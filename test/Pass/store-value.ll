; Intent: a store's value is told to the group's slow path if it is known there, else to a check beside
; the store.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s --check-prefix=SITES

target triple = "nvptx64-nvidia-cuda"

; SITES-LABEL: kernel late
; SITES-NOT: with its value
; CHECK-LABEL: define ptx_kernel void @late(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_store
; CHECK: %v = load float
; CHECK: %twice = fadd float %v, %v
; CHECK: [[BITS:%.*]] = bitcast float %twice to i32
; CHECK: [[WIDE:%.*]] = zext i32 [[BITS]] to i64
; CHECK: call void @__crsan_store({{.*}}, i64 [[WIDE]])
; CHECK: store float %twice
define ptx_kernel void @late(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %v = load float, ptr addrspace(1) %p
  %twice = fadd float %v, %v
  store float %twice, ptr addrspace(1) %q
  ret void
}

; Eight places behind the address.
; SITES-LABEL: kernel early
; SITES: store {{.*}} with its value
; CHECK-LABEL: define ptx_kernel void @early(
; CHECK: [[WIDE:%.*]] = zext i32 %sum to i64
; CHECK: [[SLOT:%.*]] = getelementptr inbounds i64, ptr {{.*}}, i64 9
; CHECK: store i64 [[WIDE]], ptr [[SLOT]]
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_store
; CHECK: store i32 %sum
define ptx_kernel void @early(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %n) {
  %sum = add i32 %n, 1
  %v = load float, ptr addrspace(1) %p
  store i32 %sum, ptr addrspace(1) %q
  ret void
}

; Each store in its own way.
; SITES-LABEL: kernel both
; SITES-COUNT-1: with its value
; SITES-NOT: with its value
; CHECK-LABEL: define ptx_kernel void @both(
; CHECK: store i64 7
; CHECK: @__crsan_check({{.*}}, i32 3)
; CHECK-NOT: @__crsan_store
; CHECK: %v = load i32
; CHECK: call void @__crsan_store(
; CHECK: store i32 %v
; CHECK-NOT: @__crsan_store
; CHECK: store i32 7
define ptx_kernel void @both(ptr addrspace(1) %p, ptr addrspace(1) %q, ptr addrspace(1) %r) {
  %v = load i32, ptr addrspace(1) %p
  store i32 %v, ptr addrspace(1) %q
  store i32 7, ptr addrspace(1) %r
  ret void
}
