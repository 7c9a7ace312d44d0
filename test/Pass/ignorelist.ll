; Intent: functions and source files can be exempted by a special case list.
; RUN: split-file %s %t
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-ignorelist=%t/functions \
; RUN:   -passes=crsan-mark,crsan -S %t/k.ll | FileCheck %s --check-prefix=ONE
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-ignorelist=%t/files \
; RUN:   -passes=crsan-mark,crsan -S %t/k.ll | FileCheck %s --check-prefix=NONE
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-ignorelist=%t/others \
; RUN:   -passes=crsan-mark,crsan -S %t/k.ll | FileCheck %s --check-prefix=BOTH
; RUN: not %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-ignorelist=%t/missing \
; RUN:   -passes=crsan-mark,crsan -S %t/k.ll 2>&1 | FileCheck %s --check-prefix=MISSING

; ONE-LABEL: define ptx_kernel void @racy(
; ONE-NOT: __crsan
; ONE-LABEL: define ptx_kernel void @other(
; ONE: @__crsan_check(
; NONE-LABEL: define ptx_kernel void @racy(
; NONE-NOT: __crsan
; NONE-LABEL: define ptx_kernel void @other(
; NONE-NOT: @__crsan_check(
; NONE: ret void
; BOTH-LABEL: define ptx_kernel void @racy(
; BOTH: @__crsan_check(
; BOTH-LABEL: define ptx_kernel void @other(
; BOTH: @__crsan_check(
; MISSING: error: CRSan: ignore list: {{.*}}missing

;--- functions
[cuda-race]
fun:rac*
;--- files
[cuda-race]
src:*kernels.cu
;--- others
[address]
fun:*
;--- k.ll
source_filename = "dir/kernels.cu"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @racy(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}
define ptx_kernel void @other(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}
