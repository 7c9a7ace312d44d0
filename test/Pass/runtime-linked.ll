; Intent: what a module uses of the runtime is linked into it, private, and the configuration,
; which is shared, always.
; RUN: split-file %s %t
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %t/store.ll | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %t/block.ll | FileCheck %s --check-prefix=BLOCK
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %t/nothing.ll | FileCheck %s --check-prefix=NOTHING

; CHECK: @__crsan_config = weak {{.*}}addrspace(4)
; CHECK: @llvm.compiler.used = {{.*}}@__crsan_config
; CHECK-NOT: define {{.*}} @__crsan_block_index(
; CHECK: define internal i32 @__crsan_check(
; CHECK: define internal void @__crsan_race(

; BLOCK: @__crsan_permutations = weak {{.*}}addrspace(1)
; BLOCK-NOT: define {{.*}} @__crsan_check(
; BLOCK: define internal i32 @__crsan_block_index(

; NOTHING: @__crsan_config = weak {{.*}}addrspace(4)
; NOTHING-NOT: define {{.*}} @__crsan_{{[a-su-z]}}

;--- store.ll
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}

;--- block.ll
target triple = "nvptx64-nvidia-cuda"
define i32 @f() {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret i32 %b
}

;--- nothing.ll
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k() {
  ret void
}
