; Intent: a weak access of host code is checked right in front of it; atomic and volatile ones, the stack and
; constants are not.
; RUN: %opt -load=%pass_plugin -load-pass-plugin=%pass_plugin -crsan-host -passes=crsan-mark,crsan-host-checks \
; RUN:   -verify-each -S %s | FileCheck %s

target triple = "x86_64-pc-linux-gnu"

; The gate is read before the access, and again behind a call, which may have launched a kernel.
; CHECK-LABEL: define i32 @load_store(
; CHECK: %[[BEGIN:.*]] = load i64, ptr @__crsan_host_gate, align 8
; CHECK: %[[SIZE:.*]] = load i64, ptr getelementptr {{.*}}@__crsan_host_gate, i64 8
; CHECK: %[[P:.*]] = ptrtoint ptr %p to i64
; CHECK: %[[AT:.*]] = sub i64 %[[P]], %[[BEGIN]]
; CHECK: %[[IN:.*]] = icmp ult i64 %[[AT]], %[[SIZE]]
; CHECK: br i1 %[[IN]], label %[[CHECK:.*]], label %[[ACCESS:.*]], !prof
; CHECK: [[CHECK]]:
; CHECK-NEXT: call preserve_mostcc void @__crsan_host_check(ptr {{.*}}, i64 %[[P]], i64 4)
; CHECK-NEXT: br label %[[ACCESS]]
; CHECK: [[ACCESS]]:
; CHECK-NEXT: %v = load i32, ptr %p
; CHECK: call void @unknown()
; CHECK: load i64, ptr @__crsan_host_gate
; CHECK: call preserve_mostcc void @__crsan_host_check(ptr {{.*}}, i64 {{.*}}, i64 1)
; CHECK: store i8 0, ptr %q
define i32 @load_store(ptr %p, ptr %q) {
  %v = load i32, ptr %p
  call void @unknown()
  store i8 0, ptr %q
  ret i32 %v
}

; CHECK-LABEL: define void @memory_functions(
; CHECK: @__crsan_host_check(ptr {{.*}}, i64 {{.*}}, i64 %n)
; CHECK: call void @llvm.memset
; CHECK-COUNT-2: @__crsan_host_check(ptr {{.*}}, i64 {{.*}}, i64 24)
; CHECK: call void @llvm.memcpy
define void @memory_functions(ptr %p, ptr %q, i64 %n) {
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 24, i1 false)
  ret void
}

; Another thread may own the padding.
; CHECK-LABEL: define void @padded(
; CHECK: @__crsan_host_check(ptr {{.*}}, i64 {{.*}}, i64 1)
; CHECK: @__crsan_host_check(ptr {{.*}}, i64 {{.*}}, i64 8)
; CHECK: store { i8, i64 }
define void @padded(ptr %p) {
  store { i8, i64 } zeroinitializer, ptr %p
  ret void
}

; CHECK-LABEL: define i32 @not_checked(
; CHECK-NOT: __crsan
; CHECK: ret i32
define i32 @not_checked(ptr %p, ptr byval(i32) %own, ptr addrspace(257) %segment) {
  %a = alloca i32
  store i32 1, ptr %a
  store volatile i32 1, ptr %p
  store atomic i32 1, ptr %p monotonic, align 4
  %r = atomicrmw add ptr %p, i32 1 seq_cst
  %x = cmpxchg ptr %p, i32 0, i32 1 seq_cst seq_cst
  fence seq_cst
  %c = load i32, ptr @constant
  %o = load i32, ptr %own
  %s = load i32, ptr addrspace(257) %segment
  call void asm sideeffect "", "r,~{memory}"(ptr %p)
  %t = add i32 %c, %o
  %u = add i32 %t, %s
  ret i32 %u
}

; CHECK: define linkonce_odr hidden void @__crsan_host_ignore(
; CHECK: define linkonce_odr hidden preserve_mostcc void @__crsan_host_check(
; CHECK-NOT: __crsan_host_check(
@constant = constant i32 7
declare void @unknown()
