; Intent: constant offsets are in the sites; the code passes on what they are relative to.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s --check-prefix=IR

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: kernel neighbours
; CHECK-NEXT: check
; CHECK-NEXT: load size 4 offset -4 space 1
; CHECK-NEXT: load size 4 offset 0 space 1
; CHECK-NEXT: load size 8 offset 4104 space 1
; CHECK-NEXT: load size 8 offset 4112 space 1
; IR-LABEL: define ptx_kernel void @neighbours(
; IR: [[ALL:%.*]] = alloca [24 x i64]
; IR-COUNT-4: addrspacecast ptr addrspace(1) %at to ptr
; IR: call i32 @__crsan_check({{.*}}, ptr [[ALL]], i32 0, i32 4)
define ptx_kernel void @neighbours(ptr addrspace(1) %p, i64 %i) {
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %i
  %left = getelementptr i8, ptr addrspace(1) %at, i64 -4
  %right = getelementptr i32, ptr addrspace(1) %at, i64 1026
  %a = load i32, ptr addrspace(1) %left
  %b = load i32, ptr addrspace(1) %at
  %c = load <2 x i64>, ptr addrspace(1) %right, align 8
  ret void
}

; What varies is added up by the code.
; CHECK-LABEL: kernel varying
; CHECK-NEXT: check
; CHECK-NEXT: store size 1 offset 0 space 1 with its value
; CHECK-NOT: {{.}}
; IR-LABEL: define ptx_kernel void @varying(
; IR: addrspacecast ptr addrspace(1) %at to ptr
; IR: call i32 @__crsan_check(
define ptx_kernel void @varying(ptr addrspace(1) %p, i64 %i) {
  %at = getelementptr i8, ptr addrspace(1) %p, i64 %i
  store i8 1, ptr addrspace(1) %at
  ret void
}
