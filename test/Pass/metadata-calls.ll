; Intent: a function that may be defined elsewhere tells at run time whether it is followed.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function calls
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   calling
; CHECK-NEXT:   call @elsewhere
; CHECK-NEXT:   returned
; CHECK-NEXT:   calling
; CHECK-NEXT:   call %f
; CHECK-NEXT:   returned
; CHECK-NEXT:   calling
; CHECK-NEXT:   call @replaceable
; CHECK-NEXT:   returned
; CHECK-NEXT:   call @visible
; CHECK-NEXT:   call @internal
; CHECK-NEXT:   call @vprintf
; CHECK-NEXT:   call @malloc
; CHECK-NEXT:   allocated(%p, 4)
; CHECK-NEXT:   call @free
; CHECK-NEXT:   calling
; CHECK-NEXT:   call @__nv_sinf
; CHECK-NEXT:   returned
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @calls(ptr %f) {
  call void @elsewhere()
  call void %f()
  call void @replaceable()
  call void @visible()
  call void @internal()
  %n = call i32 @vprintf(ptr null, ptr null)
  %p = call ptr @malloc(i64 4)
  call void @free(ptr %p)
  %s = call float @__nv_sinf(float 1.0)
  ret void
}

; CHECK:      function replaceable
; CHECK-NEXT:   called
; CHECK-NEXT:   ret
define weak void @replaceable() {
  ret void
}

; CHECK:      function visible
; CHECK-NEXT:   called
; CHECK-NEXT:   ret
define linkonce_odr void @visible() {
  ret void
}

; CHECK:      function internal
; CHECK-NEXT:   ret
define internal void @internal() {
  ret void
}

; CHECK:      function pointed_at
; CHECK-NEXT:   called
; CHECK-NEXT:   ret
define internal void @pointed_at() {
  ret void
}
@pointer = addrspace(1) global ptr @pointed_at

declare void @elsewhere()
declare i32 @vprintf(ptr, ptr)
declare ptr @malloc(i64)
declare void @free(ptr)
declare float @__nv_sinf(float)
