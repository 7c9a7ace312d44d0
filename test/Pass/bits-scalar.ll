; Intent: values are compared as integers of their bits: a NaN is equal to itself.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s --check-prefix=IR

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: kernel others
; CHECK-NEXT: check
; CHECK-NEXT: load size 1 offset 0 space 1{{$}}
; CHECK-NEXT: load size 1 offset 0 space 1{{$}}
; CHECK-NEXT: load size 2 offset 0 space 1{{$}}
; CHECK-NEXT: load size 2 offset 0 space 1{{$}}
; CHECK-NEXT: load size 8 offset 0 space 1{{$}}
; CHECK-NEXT: load size 8 offset 0 space 1{{$}}
define ptx_kernel void @others(ptr addrspace(1) %a, ptr addrspace(1) %b,
                               ptr addrspace(1) %c, ptr addrspace(1) %d,
                               ptr addrspace(1) %e, ptr addrspace(1) %f) {
  %va = load i1, ptr addrspace(1) %a
  %vb = load i8, ptr addrspace(1) %b
  %vc = load i16, ptr addrspace(1) %c
  %vd = load half, ptr addrspace(1) %d
  %ve = load double, ptr addrspace(1) %e
  %vf = load ptr, ptr addrspace(1) %f
  ret void
}

; CHECK-LABEL: kernel float
; CHECK-NEXT: check
; CHECK-NEXT: load size 4 offset 0 space 1{{$}}
; CHECK-NOT: {{.}}
; IR-LABEL: define ptx_kernel void @float(
; IR-NOT: fcmp
; IR: define internal i32 @__crsan_check(
; IR-NOT: fcmp
; IR: icmp eq i64
; IR-NOT: fcmp
; IR: call void @__crsan_race(
define ptx_kernel void @float(ptr addrspace(1) %p) {
  %v = load float, ptr addrspace(1) %p
  ret void
}
