; Intent: without line information accesses are checked, under the name of their function.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: @__crsan_table_{{.*}}_Z4racyPi\00
; CHECK-LABEL: define ptx_kernel void @_Z4racyPi(
; CHECK: @__crsan_check({{.*}}, i32 1)
; CHECK-NOT: !dbg
; CHECK: ret void
define ptx_kernel void @_Z4racyPi(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}
