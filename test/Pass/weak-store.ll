; Intent: a weak store is checked before it happens; strong stores are not.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s --check-prefix=IR

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: kernel weak
; CHECK-NEXT: check
; CHECK-NEXT: store size 4 offset 0 space 1 with its value{{$}}
; IR-LABEL: define ptx_kernel void @weak(
; IR: call i32 @__crsan_check({{.*}}, i32 1)
; IR: store i32 1, ptr addrspace(1) %p
define ptx_kernel void @weak(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: kernel strong
; CHECK-NOT: {{.}}
; IR-LABEL: define ptx_kernel void @strong(
; IR-NOT: __crsan
; IR: ret void
define ptx_kernel void @strong(ptr addrspace(1) %p) {
  store atomic i32 1, ptr addrspace(1) %p monotonic, align 4
  store atomic i32 1, ptr addrspace(1) %p syncscope("device") release, align 4
  store volatile i32 1, ptr addrspace(1) %p
  ret void
}
