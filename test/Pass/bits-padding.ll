; Intent: the padding of a structure is never read: another thread may own it.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; Offsets 1 to 3 and 10 to 15 are padding.
; CHECK-LABEL: define ptx_kernel void @padded(
; CHECK-DAG: [[A:%.*]] = getelementptr i8, ptr addrspace(1) %p, i64 0
; CHECK-DAG: load i8, ptr addrspace(1) [[A]], align 1
; CHECK-DAG: [[B:%.*]] = getelementptr i8, ptr addrspace(1) %p, i64 4
; CHECK-DAG: load i32, ptr addrspace(1) [[B]], align 4
; CHECK-DAG: [[C:%.*]] = getelementptr i8, ptr addrspace(1) %p, i64 8
; CHECK-DAG: load i16, ptr addrspace(1) [[C]], align 2
; CHECK: @__crsan_pause({{.*}}, i32 3)
; CHECK: ret void
define ptx_kernel void @padded(ptr addrspace(1) %p) {
  %v = load { i8, i32, i16, [0 x i64] }, ptr addrspace(1) %p, align 8
  ret void
}

; CHECK-LABEL: define ptx_kernel void @packed(
; CHECK: load i64, ptr addrspace(1) {{%.*}}, align 8
; CHECK: @__crsan_pause({{.*}}, i32 1)
; CHECK: ret void
define ptx_kernel void @packed(ptr addrspace(1) %p) {
  %v = load { i8, i8, i16, i32 }, ptr addrspace(1) %p, align 8
  ret void
}
