; Intent: a program's structure of the same elements as one of the runtime's does not keep the checks
; from being inlined.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=hybrid -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

%accessors = type { i64, i64 }
%snapshot = type { i64, i32, i32, i32, i32 }
%cell = type { i64, i8, i8 }
%pages = type { i32, i32, i64 }

; CHECK-LABEL: define ptx_kernel void @kernel
; CHECK-NOT: call {{.*}}@__crsan_in_
; CHECK: ret void
; CHECK-NOT: define {{.*}}@__crsan_in_
define ptx_kernel void @kernel(ptr addrspace(1) %p, i64 %i) {
  %a = getelementptr %accessors, ptr addrspace(1) %p, i64 %i, i32 1
  %b = getelementptr %snapshot, ptr addrspace(1) %p, i64 %i, i32 2
  %c = getelementptr %cell, ptr addrspace(1) %p, i64 %i, i32 1
  %d = getelementptr %pages, ptr addrspace(1) %p, i64 %i, i32 1
  %v = load i64, ptr addrspace(1) %a
  store i64 %v, ptr addrspace(1) %p
  store i32 1, ptr addrspace(1) %b
  store i8 2, ptr addrspace(1) %c
  store i32 3, ptr addrspace(1) %d
  ret void
}
