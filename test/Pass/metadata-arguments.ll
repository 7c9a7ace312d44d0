; Intent: a kernel tells the runtime a hash of its arguments, of those of 4 or 8 bytes, and 0 if there is one whose bytes
; have no value.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @mixed(
; CHECK:       [[P:%.*]] = ptrtoint ptr %p to i64
; CHECK-NEXT:  [[LOW:%.*]] = trunc i64 [[P]] to i32
; CHECK:       [[SHIFTED:%.*]] = lshr i64 [[P]], 32
; CHECK:       [[HIGH:%.*]] = trunc i64 [[SHIFTED]] to i32
; CHECK:       [[BITS:%.*]] = bitcast float %x to i32
; CHECK:       [[AT:%.*]] = getelementptr i8, ptr %s, i64 4
; CHECK:       load i32, ptr [[AT]], align 4
; CHECK:       [[HASH:%.*]] = or i32 {{.*}}, 1
; CHECK:       call {{.*}} @__crsan_md_enter(i32 {{.*}}, i32 {{.*}}, i32 [[HASH]])
define ptx_kernel void @mixed(ptr %p, float %x, i1 %b, i16 %h, ptr byval({ i32, i8 }) align 4 %s, ptr byval([3 x i64]) %large) {
  store float %x, ptr %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @padded(
; CHECK:       call {{.*}} @__crsan_md_enter(i32 {{.*}}, i32 {{.*}}, i32 0)
define ptx_kernel void @padded(ptr %p, i33 %x) {
  store i32 1, ptr %p
  ret void
}
