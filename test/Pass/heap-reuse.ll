; Intent: with the collider, the runtime fences behind each allocation from the in-kernel heap and in front
; of each release, in functions that are exempt as well; not where a module has functions of these names.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -crsan-mode=metadata -S %s \
; RUN:   | FileCheck %s --check-prefix=METADATA

target triple = "nvptx64-nvidia-cuda"

declare ptr @malloc(i64)
declare void @free(ptr)

define i32 @cudaMalloc(ptr %p, i64 %size) {
  ret i32 0
}

; METADATA-NOT: @__crsan_heap_fence
; CHECK-LABEL: define void @uses(
; CHECK: %p = call ptr @malloc(i64 8)
; CHECK-NEXT: call void @__crsan_heap_fence()
; CHECK: store i32 1, ptr %p
; CHECK: call void @__crsan_heap_fence()
; CHECK-NEXT: call void @free(ptr %p)
; CHECK: call i32 @cudaMalloc(
; CHECK-NEXT: ret void
define void @uses() {
  %p = call ptr @malloc(i64 8)
  store i32 1, ptr %p
  call void @free(ptr %p)
  %q = call i32 @cudaMalloc(ptr %p, i64 8)
  ret void
}

; CHECK-LABEL: define ptr @exempt(
; CHECK: %p = call ptr @malloc(i64 8)
; CHECK-NEXT: call void @__crsan_heap_fence()
define ptr @exempt() disable_sanitizer_instrumentation {
  %p = call ptr @malloc(i64 8)
  ret ptr %p
}
