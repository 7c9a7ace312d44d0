; Intent: a fill whose length may be zero at run time is not compared between lanes: it may write nothing.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: kernel variable
; CHECK-NEXT: check
; CHECK-NEXT: store size 0 offset 0 space 1{{$}}
define ptx_kernel void @variable(ptr addrspace(1) %p, i64 %n) {
  call void @llvm.memset.p1.i64(ptr addrspace(1) %p, i8 0, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: kernel constant
; CHECK-NEXT: check
; CHECK-NEXT: store size 1 offset 0 space 1 with its value{{$}}
define ptx_kernel void @constant(ptr addrspace(1) %p) {
  call void @llvm.memset.p1.i64(ptr addrspace(1) %p, i8 0, i64 4, i1 false)
  ret void
}
