; Intent: each weak access is announced before it happens, whole, with what is known of it.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function load_store
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   access(load 4 global, %p)
; CHECK-NEXT:   load
; CHECK-NEXT:   access(store 1 shared, %s)
; CHECK-NEXT:   store
; CHECK-NEXT:   access(load 16 generic, %g)
; CHECK-NEXT:   load
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @load_store(ptr addrspace(1) %p, ptr addrspace(3) %s, ptr %g) {
  %a = load i32, ptr addrspace(1) %p
  store i8 1, ptr addrspace(3) %s
  %b = load <4 x float>, ptr %g, align 4
  ret void
}

; Padding is another thread's business.
; CHECK:      function padded
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   access(load 1 global, %p)
; CHECK-NEXT:   access(load 4 global, %p+4)
; CHECK-NEXT:   load
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @padded(ptr addrspace(1) %p) {
  %a = load {i8, i32}, ptr addrspace(1) %p
  ret void
}

; CHECK:      function copies
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   access(store 40 global, %p)
; CHECK-NEXT:   access(load 40 shared, %s)
; CHECK-NEXT:   call @llvm.memcpy.p1.p3.i64
; CHECK-NEXT:   range(store 0 global, %p, %n)
; CHECK-NEXT:   call @llvm.memset.p1.i64
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @copies(ptr addrspace(1) %p, ptr addrspace(3) %s, i64 %n) {
  call void @llvm.memcpy.p1.p3.i64(ptr addrspace(1) %p, ptr addrspace(3) %s, i64 40, i1 false)
  call void @llvm.memset.p1.i64(ptr addrspace(1) %p, i8 0, i64 %n, i1 false)
  ret void
}

; The first load is of an argument, of which the kernel tells a hash.
; CHECK:      function private
; CHECK-NEXT:   load
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   store
; CHECK-NEXT:   load
; CHECK-NEXT:   load
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @private(ptr addrspace(4) %c, ptr byval(i32) %b) {
  %a = alloca i32
  store volatile i32 1, ptr %a
  %v = load i32, ptr addrspace(4) %c
  %w = load i32, ptr %b
  ret void
}

declare void @llvm.memcpy.p1.p3.i64(ptr addrspace(1), ptr addrspace(3), i64, i1)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
