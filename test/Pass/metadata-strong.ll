; Intent: what may be part of a synchronisation is announced before and after, with the order
; and the scope that the program gives it.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function accesses
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   strong(load 4 global system relaxed, %p)
; CHECK-NEXT:   load
; CHECK-NEXT:   strong_done(load 4 global system relaxed, %p, 0)
; CHECK-NEXT:   strong(store 8 global device release, %p)
; CHECK-NEXT:   store
; CHECK-NEXT:   strong(load 4 global block acquire, %p)
; CHECK-NEXT:   load
; CHECK-NEXT:   strong_done(load 4 global block acquire, %p, 0)
; CHECK-NEXT:   strong(update 4 global cluster acq_rel atomic, %p)
; CHECK-NEXT:   atomicrmw
; CHECK-NEXT:   strong_done(update 4 global cluster acq_rel atomic, %p, 0)
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @accesses(ptr addrspace(1) %p) {
  %v = load volatile i32, ptr addrspace(1) %p
  store atomic i64 1, ptr addrspace(1) %p syncscope("device") release, align 8
  %a = load atomic i32, ptr addrspace(1) %p syncscope("block") seq_cst, align 4
  %u = atomicrmw add ptr addrspace(1) %p, i32 1 syncscope("cluster") seq_cst
  ret void
}

; Whether the exchange took place is told.
; CHECK:      function swaps
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   swap_reader(update 4 generic system acquire atomic, %p)
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   strong(update 4 generic system acquire atomic, %p)
; CHECK-NEXT:   cmpxchg
; CHECK-NEXT:   strong_done(update 4 generic system acquire atomic, %p, 1 + (%s.1))
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   swap(update 4 generic system acquire atomic, %p)
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   swap_reader(update 4 generic block relaxed atomic, %p)
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   strong(update 4 generic block relaxed atomic, %p)
; CHECK-NEXT:   call @llvm.nvvm.atomic.cas.gen.i.cta.i32.p0
; CHECK-NEXT:   strong_done(update 4 generic block relaxed atomic, %p, 1 + (%t == 1))
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   swap(update 4 generic block relaxed atomic, %p)
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @swaps(ptr %p) {
  %s = cmpxchg ptr %p, i32 0, i32 1 acquire monotonic
  %t = call i32 @llvm.nvvm.atomic.cas.gen.i.cta.i32.p0(ptr %p, i32 1, i32 2)
  ret void
}

; CHECK:      function intrinsics
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   strong(update 4 generic block relaxed atomic, %p)
; CHECK-NEXT:   call @llvm.nvvm.atomic.add.gen.i.cta.i32.p0
; CHECK-NEXT:   strong_done(update 4 generic block relaxed atomic, %p, 0)
; CHECK-NEXT:   strong(update 8 generic system relaxed atomic, %p)
; CHECK-NEXT:   call @llvm.nvvm.atomic.exch.gen.i.sys.i64.p0
; CHECK-NEXT:   strong_done(update 8 generic system relaxed atomic, %p, 0)
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @intrinsics(ptr %p) {
  %s = call i32 @llvm.nvvm.atomic.add.gen.i.cta.i32.p0(ptr %p, i32 1)
  %t = call i64 @llvm.nvvm.atomic.exch.gen.i.sys.i64.p0(ptr %p, i64 1)
  ret void
}

; CUDA's own atomic functions are relaxed and of the device, whatever clang makes of them.
; CHECK:      function _ZL12__iAtomicAddPii
; CHECK-NEXT:   strong(update 4 generic device relaxed atomic, %p)
; CHECK-NEXT:   atomicrmw
; CHECK-NEXT:   strong_done(update 4 generic device relaxed atomic, %p, 0)
; CHECK-NEXT:   ret
define internal i32 @_ZL12__iAtomicAddPii(ptr %p, i32 %v) {
  %u = atomicrmw add ptr %p, i32 %v seq_cst
  ret i32 %u
}
; CHECK:      function _ZL14__ullAtomicCASPyyy
; CHECK:        strong(update 8 generic device relaxed atomic, %p)
; CHECK:      function legacy
define internal i64 @_ZL14__ullAtomicCASPyyy(ptr %p, i64 %e, i64 %v) {
  %s = cmpxchg ptr %p, i64 %e, i64 %v seq_cst seq_cst
  %u = extractvalue { i64, i1 } %s, 0
  ret i64 %u
}
define ptx_kernel void @legacy(ptr %p) {
  %s = call i32 @_ZL12__iAtomicAddPii(ptr %p, i32 1)
  %t = call i64 @_ZL14__ullAtomicCASPyyy(ptr %p, i64 1, i64 2)
  ret void
}

declare i32 @llvm.nvvm.atomic.cas.gen.i.cta.i32.p0(ptr, i32, i32)
declare i32 @llvm.nvvm.atomic.add.gen.i.cta.i32.p0(ptr, i32)
declare i64 @llvm.nvvm.atomic.exch.gen.i.sys.i64.p0(ptr, i64)
