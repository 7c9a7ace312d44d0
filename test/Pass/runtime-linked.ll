; Intent: what a module uses of the runtime is linked into it, private but for the configuration.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-DAG: @__crsan_config = weak {{.*}}addrspace(4)
; CHECK-DAG: @__crsan_permutations = weak {{.*}}addrspace(1)
; CHECK-DAG: define internal i32 @__crsan_check(
; CHECK-DAG: define internal void @__crsan_race(
; CHECK-DAG: define internal void @__crsan_store(
; CHECK-NOT: define {{(dso_local )?}}{{[^ ]*}} @__crsan
define ptx_kernel void @k(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}
