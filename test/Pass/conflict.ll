; Intent: a store is compared with the other accesses of its group, lane against lane, where
; they can meet: the site of the store names them.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: kernel meet
; CHECK-NEXT: check
; CHECK-NEXT: store {{.*}} meets 0b10 with its value{{$}}
; CHECK-NEXT: load size 4 offset 0 space 3{{$}}
define ptx_kernel void @meet(ptr addrspace(3) %p, ptr addrspace(3) %q) {
  store i32 1, ptr addrspace(3) %p
  %v = load i32, ptr addrspace(3) %q
  ret void
}

; Two stores are compared once; neighbours of one object can meet too.
; CHECK-LABEL: kernel several
; CHECK-NEXT: check
; CHECK-NEXT: load size 4 offset 0 space 3{{$}}
; CHECK-NEXT: store {{.*}} meets 0b101 with its value{{$}}
; CHECK-NEXT: store {{.*}} meets 0b1 with its value{{$}}
define ptx_kernel void @several(i32 %i) {
  %p = getelementptr i32, ptr addrspace(3) @x, i32 %i
  %q = getelementptr i8, ptr addrspace(3) %p, i64 4
  %r = getelementptr i8, ptr addrspace(3) %p, i64 8
  %v = load i32, ptr addrspace(3) %p
  store i32 1, ptr addrspace(3) %q
  store i32 2, ptr addrspace(3) %r
  ret void
}

; A generic pointer may point anywhere.
; CHECK-LABEL: kernel generic
; CHECK-NEXT: check
; CHECK-NEXT: store {{.*}} space 3 meets 0b10 with its value{{$}}
; CHECK-NEXT: load {{.*}} space 0{{$}}
define ptx_kernel void @generic(ptr addrspace(3) %p, ptr %q) {
  store i32 1, ptr addrspace(3) %p
  %v = load i32, ptr %q
  ret void
}

; CHECK-LABEL: kernel loads
; CHECK-NOT: meets
define ptx_kernel void @loads(ptr addrspace(3) %p, ptr addrspace(3) %q) {
  %v = load i32, ptr addrspace(3) %p
  %w = load i32, ptr addrspace(3) %q
  ret void
}

; CHECK-LABEL: kernel spaces
; CHECK-NOT: meets
define ptx_kernel void @spaces(ptr addrspace(3) %p, ptr addrspace(1) %q) {
  store i32 1, ptr addrspace(3) %p
  %v = load i32, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: kernel objects
; CHECK-NOT: meets
define ptx_kernel void @objects(i32 %i) {
  %p = getelementptr i32, ptr addrspace(3) @x, i32 %i
  %q = getelementptr i32, ptr addrspace(3) @y, i32 %i
  store i32 1, ptr addrspace(3) %p
  %v = load i32, ptr addrspace(3) %q
  ret void
}

; By one pointer: lanes that meet here meet in the store itself.
; CHECK-LABEL: kernel same
; CHECK-NOT: meets
define ptx_kernel void @same(ptr addrspace(3) %p) {
  %v = load i32, ptr addrspace(3) %p
  store i32 1, ptr addrspace(3) %p
  ret void
}

@x = internal addrspace(3) global [32 x i32] poison
@y = internal addrspace(3) global [32 x i32] poison
