; Intent: ignore lists and CRSAN_NO_SANITIZE hold for host code, wherever it is inlined.
; RUN: split-file %s %t
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-host -crsan-ignorelist=%t/functions \
; RUN:   -passes='default<O2>' -S %t/h.ll | FileCheck %s

; CHECK-LABEL: define {{.*}}@inlines(
; CHECK-COUNT-1: @__crsan_host_check(
; CHECK-NOT: @__crsan_host_check(
; CHECK: ret void
; CHECK-LABEL: define {{.*}}@listed(
; CHECK-NOT: __crsan
; CHECK-LABEL: define {{.*}}@exempt(
; CHECK-NOT: __crsan
; CHECK: ret void

;--- functions
[cuda-race]
fun:list*
;--- h.ll
target triple = "x86_64-pc-linux-gnu"
define void @inlines(ptr %p, ptr %q, ptr %r) {
  store i32 1, ptr %p
  call void @listed(ptr %q)
  call void @exempt(ptr %r)
  ret void
}
define void @listed(ptr %p) {
  store i32 2, ptr %p
  ret void
}
define void @exempt(ptr %p) disable_sanitizer_instrumentation {
  store i32 3, ptr %p
  ret void
}
