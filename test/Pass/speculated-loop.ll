; Intent: a guarded load of a loop is not checked before the loop; one that always runs is.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -unroll-runtime=0 -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @guarded(
; CHECK: entry:
; CHECK-NOT: @__crsan_check
; CHECK: then:
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: ret void
define ptx_kernel void @guarded(ptr addrspace(1) %out, i32 %n, i32 %m) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %sum = phi i32 [ 0, %entry ], [ %new, %latch ]
  %bits = and i32 %i, %m
  %c = icmp eq i32 %bits, 3
  br i1 %c, label %then, label %latch
then:
  %v = load i32, ptr addrspace(1) @cell
  br label %latch
latch:
  %add = phi i32 [ 1, %loop ], [ %v, %then ]
  %new = xor i32 %sum, %add
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  store atomic i32 %sum, ptr addrspace(1) %out monotonic, align 4
  ret void
}

; CHECK-LABEL: define ptx_kernel void @always(
; CHECK: entry:
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK: %v = load i32, ptr addrspace(1) @cell
; CHECK: loop:
define ptx_kernel void @always(ptr addrspace(1) %out, i32 %n, i32 %m) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %new, %loop ]
  %v = load i32, ptr addrspace(1) @cell
  %mix = mul i32 %sum, %m
  %new = xor i32 %mix, %v
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  store atomic i32 %sum, ptr addrspace(1) %out monotonic, align 4
  ret void
}

@cell = addrspace(1) global i32 0
