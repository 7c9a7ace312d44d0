; Intent: which allocations a kernel's arguments point into decides, when it begins, whether what it
; reads through one of them is checked; unless it may write anywhere.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; The bits 3 to 11 of a page's entry are the number of its owner, bit 28 of a warp's place says that
; another grid may run beside this one.
; CHECK-LABEL: define ptx_kernel void @copy(
; CHECK:       [[IN:%.+]] = and i32 %{{.*}}, 4088
; CHECK-NEXT:  icmp ne i32 [[IN]], 0
; CHECK:       [[OUT:%.+]] = and i32 %{{.*}}, 4088
; CHECK-NEXT:  icmp ne i32 [[IN]], [[OUT]]
; CHECK:       and i32 %{{.*}}, 268435456
; CHECK:       [[FREE:%.+]] = and i1
; CHECK:       load i32, ptr %in
; CHECK:       [[NOT:%.+]] = xor i1 [[FREE]], true
; CHECK-NEXT:  br i1 [[NOT]], label %{{.*}}, label %[[BEHIND:[0-9]+]]
; CHECK:       call void @__crsan_md_check(
; CHECK:       [[BEHIND]]:
; CHECK:       store i32 %v, ptr %out
; CHECK:       atom.relaxed.gpu.global.exch.b64
define ptx_kernel void @copy(ptr %in, ptr %out) {
  %v = load i32, ptr %in
  store i32 %v, ptr %out
  ret void
}

; A pointer in a structure that the kernel is given.
; CHECK-LABEL: define ptx_kernel void @copyStructure(
; CHECK-COUNT-2: and i32 %{{.*}}, 4088
; CHECK:       ret void
define ptx_kernel void @copyStructure(ptr byval({ ptr, ptr }) %both) {
  %in = load ptr, ptr %both
  %at = getelementptr i8, ptr %both, i64 8
  %out = load ptr, ptr %at
  %v = load i32, ptr %in
  store i32 %v, ptr %out
  ret void
}

; CHECK-LABEL: define ptx_kernel void @increment(
; CHECK-NOT:   and i32 %{{.*}}, 4088
; CHECK:       ret void
define ptx_kernel void @increment(ptr %p, i64 %i) {
  %v = load i32, ptr %p
  %at = getelementptr i32, ptr %p, i64 %i
  store i32 %v, ptr %at
  ret void
}

; Through what it reads, it may write anywhere.
; CHECK-LABEL: define ptx_kernel void @indirect(
; CHECK-NOT:   and i32 %{{.*}}, 4088
; CHECK:       ret void
define ptx_kernel void @indirect(ptr %in, ptr %list) {
  %v = load i32, ptr %in
  %out = load ptr, ptr %list
  store i32 %v, ptr %out
  ret void
}
