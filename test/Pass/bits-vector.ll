; Intent: vectors and 128-bit integers are compared in pieces of at most 8 aligned bytes.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: kernel aligned
; CHECK-NEXT: check
; CHECK-NEXT: load size 8 offset 0 space 1{{$}}
; CHECK-NEXT: load size 8 offset 8 space 1{{$}}
; CHECK-NEXT: load size 8 offset 0 space 1{{$}}
; CHECK-NEXT: load size 8 offset 8 space 1{{$}}
define ptx_kernel void @aligned(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %v = load <4 x float>, ptr addrspace(1) %p, align 16
  %w = load i128, ptr addrspace(1) %q, align 16
  ret void
}

; CHECK-LABEL: kernel odd
; CHECK-NEXT: check
; CHECK-NEXT: load size 8 offset 0 space 1{{$}}
; CHECK-NEXT: load size 4 offset 8 space 1{{$}}
define ptx_kernel void @odd(ptr addrspace(1) %p) {
  %v = load <3 x float>, ptr addrspace(1) %p, align 16
  ret void
}

; CHECK-LABEL: kernel unaligned
; CHECK-NEXT: check
; CHECK-NEXT: load size 1 offset 0 space 1{{$}}
; CHECK-NEXT: load size 1 offset 1 space 1{{$}}
; CHECK-NEXT: load size 1 offset 2 space 1{{$}}
; CHECK-NEXT: load size 1 offset 3 space 1{{$}}
; CHECK-NOT: {{.}}
define ptx_kernel void @unaligned(ptr addrspace(1) %p) {
  %v = load i32, ptr addrspace(1) %p, align 1
  ret void
}
