; Intent: the padding of a structure is never read: another thread may own it.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; Offsets 1 to 3 and 10 to 15 are padding.
; CHECK-LABEL: kernel padded
; CHECK-NEXT: check
; CHECK-NEXT: load size 1 offset 0 space 1{{$}}
; CHECK-NEXT: load size 4 offset 4 space 1{{$}}
; CHECK-NEXT: load size 2 offset 8 space 1{{$}}
define ptx_kernel void @padded(ptr addrspace(1) %p) {
  %v = load { i8, i32, i16, [0 x i64] }, ptr addrspace(1) %p, align 8
  ret void
}

; CHECK-LABEL: kernel packed
; CHECK-NEXT: check
; CHECK-NEXT: load size 8 offset 0 space 1{{$}}
; CHECK-NOT: {{.}}
define ptx_kernel void @packed(ptr addrspace(1) %p) {
  %v = load { i8, i8, i16, i32 }, ptr addrspace(1) %p, align 8
  ret void
}
