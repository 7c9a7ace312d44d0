; Intent: where the module has a structure with the elements of one of the runtime's, which the
; linker takes for the same type, the checks in line are inlined like others.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: define ptx_kernel void @both(
; CHECK-NOT: @__crsan_in_
; CHECK: store i64
; CHECK-NOT: @__crsan_in_
define ptx_kernel void @both(ptr addrspace(1) %p) {
  %pair = call { i64, i64 } asm "add.cc.u64 $0, $2, $3; addc.u64 $1, $2, $3;", "=&l,=&l,l,l"(i64 3, i64 4)
  %low = extractvalue { i64, i64 } %pair, 0
  store i64 %low, ptr addrspace(1) %p
  ret void
}
