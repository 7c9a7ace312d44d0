; Intent: modules for the host are left alone, at every level.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -S %s | FileCheck %s --implicit-check-not=crsan
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -S %s | FileCheck %s --implicit-check-not=crsan
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -mtriple=nvptx64-nvidia-cuda -S %s | FileCheck %s --check-prefix=DEVICE

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @f(
; CHECK-NEXT: store i32 1, ptr %p
; CHECK-NOT: access.group
; CHECK: ret void
; DEVICE: call i32 @__crsan_check(
define void @f(ptr %p) {
  store i32 1, ptr %p
  ret void
}
