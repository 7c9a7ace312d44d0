; Intent: with ThreadSanitizer, host functions keep its attribute, and those that lack it do not get it.
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-host -passes='default<O1>' -S %s | FileCheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK: define {{.*}}@sanitized({{.*}} #[[S:[0-9]+]]
; CHECK: @__crsan_host_check(
; CHECK: define {{.*}}@plain({{.*}} #[[P:[0-9]+]]
; CHECK: @__crsan_host_check(
; CHECK: attributes #[[S]] = {{.*}}sanitize_thread
; CHECK: attributes #[[P]] = {
; CHECK-NOT: sanitize_thread
define void @sanitized(ptr %p) sanitize_thread {
  store i64 0, ptr %p
  ret void
}
define void @plain(ptr %p) {
  store i64 0, ptr %p
  ret void
}
