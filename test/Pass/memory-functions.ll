; Intent: copies are checked on both sides, fills on one; long ones are compared by hash.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s --check-prefix=IR

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: kernel copy
; CHECK-NEXT: check
; CHECK-NEXT: store size 8 offset 0 space
; CHECK-NEXT: store size 8 offset 8 space
; CHECK-NEXT: load size 8 offset 0 space
; CHECK-NEXT: load size 8 offset 8 space
; IR-LABEL: define ptx_kernel void @copy(
; IR: call i32 @__crsan_check({{.*}}, i32 4)
; IR: call void @llvm.memcpy
define ptx_kernel void @copy(ptr addrspace(1) %to, ptr addrspace(1) %from) {
  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) align 8 %to, ptr addrspace(1) align 8 %from, i64 16, i1 false)
  ret void
}

; CHECK-LABEL: kernel long
; CHECK-NEXT: check
; CHECK-NEXT: store size 64 offset 0 space
; CHECK-NEXT: load size 64 offset 0 space
; IR-LABEL: define ptx_kernel void @long(
; IR: call i32 @__crsan_check({{.*}}, i32 2)
; IR: call void @llvm.memmove
define ptx_kernel void @long(ptr addrspace(1) %to, ptr addrspace(1) %from) {
  call void @llvm.memmove.p1.p1.i64(ptr addrspace(1) %to, ptr addrspace(1) %from, i64 64, i1 false)
  ret void
}

; CHECK-LABEL: kernel fill
; CHECK-NEXT: check
; CHECK-NEXT: store size 8 offset 0 space 1 with its value{{$}}
; IR-LABEL: define ptx_kernel void @fill(
; IR: call i32 @__crsan_check({{.*}}, i32 1)
; IR: call void @llvm.memset
define ptx_kernel void @fill(ptr addrspace(1) %to) {
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 8 %to, i8 0, i64 8, i1 false)
  ret void
}

; Into local memory: only what is read can race.
; CHECK-LABEL: kernel spill
; CHECK-NEXT: check
; CHECK-NEXT: load size 8 offset 0 space
define ptx_kernel void @spill(ptr addrspace(1) %from) {
  %a = alloca i64
  call void @llvm.memcpy.p0.p1.i64(ptr align 8 %a, ptr addrspace(1) align 8 %from, i64 8, i1 false)
  ret void
}

; A length of run time is passed on, eight places behind the address, and no lane
; is compared by it.
; CHECK-LABEL: kernel variable
; CHECK-NEXT: check
; CHECK-NEXT: store size 4 offset 0 space 1 with its value{{$}}
; CHECK-NEXT: store size 0 offset 0 space 1{{$}}
; CHECK-NEXT: load size 0 offset 0 space 1{{$}}
; CHECK-NOT: {{.}}
; IR-LABEL: define ptx_kernel void @variable(
; IR: [[ALL:%.*]] = alloca [24 x i64]
; IR: [[LENGTH:%.*]] = zext i32 %n to i64
; IR: [[SLOT:%.*]] = getelementptr inbounds i64, ptr [[ALL]], i64 9
; IR: store i64 [[LENGTH]], ptr [[SLOT]]
; IR: [[LENGTH:%.*]] = zext i32 %n to i64
; IR: [[SLOT:%.*]] = getelementptr inbounds i64, ptr [[ALL]], i64 10
; IR: store i64 [[LENGTH]], ptr [[SLOT]]
; IR: call i32 @__crsan_check({{.*}}, ptr [[ALL]], i32 0, i32 3)
; IR: call void @llvm.memcpy
define ptx_kernel void @variable(ptr addrspace(1) %to, ptr addrspace(1) %from, ptr addrspace(1) %p, i32 %n) {
  store i32 1, ptr addrspace(1) %p
  call void @llvm.memcpy.p1.p1.i32(ptr addrspace(1) align 8 %to, ptr addrspace(1) align 8 %from, i32 %n, i1 false)
  ret void
}

; IR-LABEL: define internal i32 @__crsan_check(
; IR: mul i64 {{.*}}, 1099511628211
