; Intent: each unit of host code has a gate, which the linker makes one, and a section by which it is found; a
; unit without checks has nothing.
; RUN: split-file %s %t
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-host -passes='default<O2>' -S %t/some.ll \
; RUN:   | FileCheck %s
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-host -passes='default<O2>' -S %t/none.ll \
; RUN:   | FileCheck %s --check-prefix=NONE --implicit-check-not=__crsan

; CHECK: @__crsan_host_gate = linkonce_odr hidden global { i64, i64, ptr } { i64 0, i64 0, ptr @__crsan_host_ignore }, comdat, align 8
; Two sites of 56 bytes, with the bytes accessed and the kind; and the table.
; CHECK: @[[SITES:__crsan_host.*]] = private global [14 x i64] [i64 {{-?[0-9]+}}, i64 4, i64 0, i64 0, i64 0, i64 0, i64 0, i64 {{-?[0-9]+}}, i64 4294967304, i64 0, i64 0, i64 0, i64 0, i64 0], align 8
; CHECK: @[[TABLE:__crsan_host.*]] = private constant {{.*}} c"CRSN
; CHECK: @[[UNIT:__crsan_host.*]] = private global { ptr, i64, ptr, i64 } { ptr @[[TABLE]], i64 {{[0-9]+}}, ptr @[[SITES]], i64 2 }, section "__crsan_host_units", align 8
; CHECK: @llvm.used = {{.*}}@[[UNIT]]
; LLVM was asked not to move loads, and the user's own wish for that stays.
; CHECK: define {{.*}}@f({{.*}} #[[F:[0-9]+]]
; CHECK: define {{.*}}@g({{.*}} #[[G:[0-9]+]]
; CHECK-NOT: attributes #[[F]] = {{.*}}sanitize_thread
; CHECK-NOT: attributes {{.*}}crsan-
; NONE: define {{.*}}@f(

;--- some.ll
target triple = "x86_64-pc-linux-gnu"
define i32 @f(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
define void @g(ptr %p) {
  store i64 0, ptr %p
  ret void
}
;--- none.ll
target triple = "x86_64-pc-linux-gnu"
define i32 @f(ptr %p) {
  %v = load atomic i32, ptr %p acquire, align 4
  ret i32 %v
}
