; Intent: a thread tells of what it gives to others before, and of what it gets after, each
; fence and barrier; what moves values within a warp orders nothing.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function fences
; CHECK-NEXT:   enter({{[26]}})
; CHECK-NEXT:   fence
; CHECK-NEXT:   fence(3)
; CHECK-NEXT:   fence
; CHECK-NEXT:   fence(0)
; CHECK-NEXT:   fence
; CHECK-NEXT:   call @llvm.nvvm.membar.cta
; CHECK-NEXT:   fence(0)
; CHECK-NEXT:   call @llvm.nvvm.membar.gl
; CHECK-NEXT:   fence(2)
; CHECK-NEXT:   call @llvm.nvvm.membar.sys
; CHECK-NEXT:   fence(3)
; CHECK-NEXT:   call @llvm.nvvm.fence.sc.cluster
; CHECK-NEXT:   fence(1)
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   call @llvm.nvvm.fence.proxy.async
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @fences() {
  fence seq_cst
  fence syncscope("block") acquire
  fence syncscope("singlethread") seq_cst
  call void @llvm.nvvm.membar.cta()
  call void @llvm.nvvm.membar.gl()
  call void @llvm.nvvm.membar.sys()
  call void @llvm.nvvm.fence.sc.cluster()
  call void @llvm.nvvm.fence.proxy.async()
  ret void
}

; CHECK:      function blocks
; CHECK-NEXT:   enter({{[26]}})
; CHECK-NEXT:   asm bar.warp.sync 0xffffffff;
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.sync.aligned.all
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.red.popc.all
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @blocks(i1 %b) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %c = call i32 @llvm.nvvm.barrier.cta.red.popc.all(i32 0, i1 %b)
  ret void
}

; Some threads of a block, by the number of the barrier.
; CHECK:      function named
; CHECK-NEXT:   enter({{[26]}})
; CHECK-NEXT:   publish(3, 0)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.sync.aligned.count
; CHECK-NEXT:   collect(3, 0)
; CHECK-NEXT:   publish(4, 0)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.arrive.count
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @named() {
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 64)
  call void @llvm.nvvm.barrier.cta.arrive.count(i32 4, i32 64)
  ret void
}

; CHECK:      function warps
; CHECK-NEXT:   enter({{[26]}})
; CHECK-NEXT:   warp_barrier(%m)
; CHECK-NEXT:   call @llvm.nvvm.bar.warp.sync
; CHECK-NEXT:   call @llvm.nvvm.shfl.sync.idx.i32
; CHECK-NEXT:   call @llvm.nvvm.vote.any.sync
; CHECK-NEXT:   call @llvm.nvvm.match.any.sync.i32
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @warps(i32 %m) {
  call void @llvm.nvvm.bar.warp.sync(i32 %m)
  %a = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %m, i32 0, i32 31)
  %b = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 true)
  %c = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %m)
  ret void
}

; CHECK:      function clusters
; CHECK-NEXT:   enter({{[26]}})
; CHECK-NEXT:   publish(256, 1)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cluster.arrive
; CHECK-NEXT:   call @llvm.nvvm.barrier.cluster.wait
; CHECK-NEXT:   collect(256, 1)
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @clusters() {
  call void @llvm.nvvm.barrier.cluster.arrive()
  call void @llvm.nvvm.barrier.cluster.wait()
  ret void
}

; CHECK:      function mbarriers
; CHECK-NEXT:   enter({{[26]}})
; CHECK-NEXT:   call @llvm.nvvm.mbarrier.init.shared
; CHECK-NEXT:   publish(%b, 0)
; CHECK-NEXT:   call @llvm.nvvm.mbarrier.arrive.shared
; CHECK-NEXT:   call @llvm.nvvm.mbarrier.test.wait.shared
; CHECK-NEXT:   collect(%b, 0)
; CHECK-NEXT:   publish(%b, 1)
; CHECK-NEXT:   call @llvm.nvvm.mbarrier.arrive.scope.cluster.space.cta
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @mbarriers(ptr addrspace(3) %b) {
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) %b, i32 32)
  %s = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %b)
  %w = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) %b, i64 %s)
  %t = call i64 @llvm.nvvm.mbarrier.arrive.scope.cluster.space.cta(ptr addrspace(3) %b, i32 1)
  ret void
}

; CHECK:      function grids
; CHECK-NEXT:   enter({{[26]}})
; CHECK-NEXT:   call @llvm.nvvm.griddepcontrol.launch.dependents
; CHECK-NEXT:   unknown
; CHECK-NEXT:   call @llvm.nvvm.griddepcontrol.wait
; CHECK-NEXT:   unknown
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   ret
define ptx_kernel void @grids() {
  call void @llvm.nvvm.griddepcontrol.launch.dependents()
  call void @llvm.nvvm.griddepcontrol.wait()
  ret void
}

; CHECK:      function endings
; CHECK-NEXT:   called
; CHECK-NEXT:   leave({{[0-9]}}, 0)
; CHECK-NEXT:   call @llvm.nvvm.exit
define void @endings() {
  call void @llvm.nvvm.exit()
  unreachable
}
