; Intent: the barriers of a kernel that calls nothing are told apart from those of other
; functions, and a barrier whose number is not 0 is not that of __syncthreads().
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function alone
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   asm bar.warp.sync 0xffffffff;
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.sync.aligned.all
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @alone() {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; CHECK:      function warps
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   asm bar.warp.sync 0xffffffff;
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.sync.aligned.all
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   publish(%m, 0)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.sync.aligned.count
; CHECK-NEXT:   collect(%m, 0)
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @warps(i32 %n) {
  %m = or i32 %n, 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 %m, i32 64)
  ret void
}

; CHECK:      function both
; CHECK-NEXT:   enter({{[04]}})
; CHECK-NEXT:   publish(0, 0)
; CHECK-NEXT:   block_arrive_uneven
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.sync.aligned.all
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   collect(0, 0)
; CHECK-NEXT:   publish(%k, 0)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.arrive.count
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @both(i32 %k) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.arrive.count(i32 %k, i32 64)
  ret void
}
