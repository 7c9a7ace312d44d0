; Intent: copies are checked on both sides, fills on one; long ones are compared by hash.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @copy(
; CHECK: @__crsan_pause({{.*}}, i32 4)
; CHECK-COUNT-4: load atomic i64, ptr addrspace(1)
; CHECK: call void @llvm.memcpy
define ptx_kernel void @copy(ptr addrspace(1) %to, ptr addrspace(1) %from) {
  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) align 8 %to, ptr addrspace(1) align 8 %from, i64 16, i1 false)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @long(
; CHECK: call i64 @__crsan_hash({{.*}}, i64 64,
; CHECK: call i64 @__crsan_hash({{.*}}, i64 64,
; CHECK: @__crsan_pause({{.*}}, i32 2)
; CHECK: call void @llvm.memmove
define ptx_kernel void @long(ptr addrspace(1) %to, ptr addrspace(1) %from) {
  call void @llvm.memmove.p1.p1.i64(ptr addrspace(1) %to, ptr addrspace(1) %from, i64 64, i1 false)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @fill(
; CHECK: @__crsan_pause({{.*}}, i32 1)
; CHECK: load atomic i64
; CHECK: call void @__crsan_store(
; CHECK: call void @llvm.memset
define ptx_kernel void @fill(ptr addrspace(1) %to) {
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 8 %to, i8 0, i64 8, i1 false)
  ret void
}

; Into local memory: only what is read can race.
; CHECK-LABEL: define ptx_kernel void @spill(
; CHECK: @__crsan_pause({{.*}}, i32 1)
; CHECK: ret void
define ptx_kernel void @spill(ptr addrspace(1) %from) {
  %a = alloca i64
  call void @llvm.memcpy.p0.p1.i64(ptr align 8 %a, ptr addrspace(1) align 8 %from, i64 8, i1 false)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @variable(
; CHECK: call i64 @__crsan_hash({{.*}}, i64 %n,
; CHECK: @__crsan_pause({{.*}}, i32 1)
; CHECK: call void @llvm.memset
define ptx_kernel void @variable(ptr addrspace(1) %to, i64 %n) {
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 8 %to, i8 0, i64 %n, i1 false)
  ret void
}
