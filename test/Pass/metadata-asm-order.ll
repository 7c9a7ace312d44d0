; Intent: fences and barriers of inline PTX are told of like those of C++; what is not
; understood may be anything.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function fences
; CHECK-NEXT:   called
; CHECK-NEXT:   asm fence.acq_rel.gpu;
; CHECK-NEXT:   fence(2)
; CHECK-NEXT:   asm fence.sc.cta;
; CHECK-NEXT:   fence(0)
; CHECK-NEXT:   asm membar.sys;
; CHECK-NEXT:   fence(3)
; CHECK-NEXT:   asm membar.gl;
; CHECK-NEXT:   fence(2)
; CHECK-NEXT:   asm fence.mbarrier_init.release.cluster;
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   asm fence.proxy.async;
; CHECK-NEXT:   asm fence.proxy.alias;
; CHECK-NEXT:   ret
define void @fences() {
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"()
  call void asm sideeffect "fence.sc.cta;", "~{memory}"()
  call void asm sideeffect "membar.sys;", "~{memory}"()
  call void asm sideeffect "membar.gl;", "~{memory}"()
  call void asm sideeffect "fence.mbarrier_init.release.cluster;", "~{memory}"()
  call void asm sideeffect "fence.proxy.async;", "~{memory}"()
  call void asm sideeffect "fence.proxy.alias;", "~{memory}"()
  ret void
}

; A fence between proxies may have to be told before what the statement hands on, and behind
; what it acquires; if it does both, the fence may be anything.
; CHECK:      function proxies
; CHECK-NEXT:   called
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   publish(%b, 0)
; CHECK-NEXT:   asm fence.proxy.async.shared::cta; mbarrier.arrive.shared.b64 _, [$0];
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   asm wgmma.wait_group.sync.aligned 0;
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   await_products(0)
; CHECK-NEXT:   tensor(store 0 global, %map, 1, 0, 0, 0, 0, 0, 0)
; CHECK-NEXT:   copy(load 0 shared, %s, box(%map, 1, 0, 0, 0, 0, 0, 1))
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   asm cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [$0, {$1}], [$2];
; CHECK-NEXT:   ret
define void @proxies(i32 %b, ptr %map, i32 %s) {
  call void asm sideeffect "fence.proxy.async.shared::cta; mbarrier.arrive.shared.b64 _, [$0];", "r,~{memory}"(i32 %b)
  call void asm sideeffect "wgmma.wait_group.sync.aligned 0;", "~{memory}"()
  call void asm sideeffect "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [$0, {$1}], [$2];", "l,r,r,~{memory}"(ptr %map, i32 0, i32 %s)
  ret void
}

; CHECK:      function barriers
; CHECK-NEXT:   called
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   asm bar.sync 0;
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   asm {.reg .pred p; barrier.cta.red.and.pred p, 3, p;}
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   publish(1, 0)
; CHECK-NEXT:   asm bar.sync 1, 64;
; CHECK-NEXT:   collect(1, 0)
; CHECK-NEXT:   publish(4, 0)
; CHECK-NEXT:   asm barrier.arrive $0, $1;
; CHECK-NEXT:   publish(2, 0)
; CHECK-NEXT:   asm bar.red.popc.u32 $0, 2, 64, p;
; CHECK-NEXT:   collect(2, 0)
; CHECK-NEXT:   warp_barrier(-1)
; CHECK-NEXT:   asm bar.warp.sync 0xffffffff;
; CHECK-NEXT:   warp_barrier(%n)
; CHECK-NEXT:   asm bar.warp.sync $0;
; CHECK-NEXT:   publish(256, 1)
; CHECK-NEXT:   asm barrier.cluster.arrive.release.aligned;
; CHECK-NEXT:   asm barrier.cluster.wait.acquire.aligned;
; CHECK-NEXT:   collect(256, 1)
; CHECK-NEXT:   ret
define void @barriers(i32 %n) {
  call void asm sideeffect "bar.sync 0;", "~{memory}"()
  call void asm sideeffect "{.reg .pred p; barrier.cta.red.and.pred p, 3, p;}", "~{memory}"()
  call void asm sideeffect "bar.sync 1, 64;", "~{memory}"()
  call void asm sideeffect "barrier.arrive $0, $1;", "r,r,~{memory}"(i32 4, i32 64)
  %c = call i32 asm sideeffect "bar.red.popc.u32 $0, 2, 64, p;", "=r,~{memory}"()
  call void asm sideeffect "bar.warp.sync 0xffffffff;", "~{memory}"()
  call void asm sideeffect "bar.warp.sync $0;", "r,~{memory}"(i32 %n)
  call void asm sideeffect "barrier.cluster.arrive.release.aligned;", "~{memory}"()
  call void asm sideeffect "barrier.cluster.wait.acquire.aligned;", "~{memory}"()
  ret void
}

; A loop that waits: whatever is done, it is over when the loop is.
; CHECK:      function mbarriers
; CHECK-NEXT:   called
; CHECK-NEXT:   asm mbarrier.init.shared.b64 [$0], 32;
; CHECK-NEXT:   publish(%b, 0)
; CHECK-NEXT:   asm mbarrier.arrive.shared.b64 _, [$0];
; CHECK-NEXT:   publish(%b, 1)
; CHECK-NEXT:   asm mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [$0], 4;
; CHECK-NEXT:   asm {.reg .pred P; W: mbarrier.try_wait.parity.shared::cta.b64 P, [$0], $1; @P bra D; bra W; D:}
; CHECK-NEXT:   collect(%b, 0)
; CHECK-NEXT:   ret
define void @mbarriers(i32 %b) {
  call void asm sideeffect "mbarrier.init.shared.b64 [$0], 32;", "r"(i32 %b)
  call void asm sideeffect "mbarrier.arrive.shared.b64 _, [$0];", "r"(i32 %b)
  call void asm sideeffect "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [$0], 4;", "r"(i32 %b)
  call void asm sideeffect "{.reg .pred P; W: mbarrier.try_wait.parity.shared::cta.b64 P, [$0], $1; @P bra D; bra W; D:}", "r,r"(i32 %b, i32 1)
  ret void
}

; What is relaxed is told so, unless a fence of its own statement may have made it
; more than that.
; CHECK:      function relaxed
; CHECK-NEXT:   called
; CHECK-NEXT:   publish_fenced(256, 1)
; CHECK-NEXT:   asm barrier.cluster.arrive.relaxed.aligned;
; CHECK-NEXT:   publish_fenced(%b, 1)
; CHECK-NEXT:   asm mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [$0];
; CHECK-NEXT:   publish_fenced(%b, 0)
; CHECK-NEXT:   asm mbarrier.arrive_drop.relaxed.cta.shared.b64 _, [$0];
; CHECK-NEXT:   asm {.reg .pred P; W: mbarrier.try_wait.relaxed.cta.shared.b64 P, [$0], $1; @!P bra W;}
; CHECK-NEXT:   collect_later(%b, 0)
; CHECK-NEXT:   asm mbarrier.expect_tx.relaxed.cta.shared.b64 [$0], 4;
; CHECK-NEXT:   publish_fenced(256, 1)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cluster.arrive.relaxed
; CHECK-NEXT:   fence
; CHECK-NEXT:   fence(1)
; CHECK-NEXT:   publish(256, 1)
; CHECK-NEXT:   asm fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;
; CHECK-NEXT:   fence(1)
; CHECK-NEXT:   ret
define void @relaxed(i32 %b, i64 %s) {
  call void asm sideeffect "barrier.cluster.arrive.relaxed.aligned;", "~{memory}"()
  call void asm sideeffect "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [$0];", "r,~{memory}"(i32 %b)
  call void asm sideeffect "mbarrier.arrive_drop.relaxed.cta.shared.b64 _, [$0];", "r,~{memory}"(i32 %b)
  call void asm sideeffect "{.reg .pred P; W: mbarrier.try_wait.relaxed.cta.shared.b64 P, [$0], $1; @!P bra W;}", "r,l,~{memory}"(i32 %b, i64 %s)
  call void asm sideeffect "mbarrier.expect_tx.relaxed.cta.shared.b64 [$0], 4;", "r,~{memory}"(i32 %b)
  call void @llvm.nvvm.barrier.cluster.arrive.relaxed()
  call void asm sideeffect "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;", "~{memory}"()
  ret void
}

; CHECK:      function harmless
; CHECK-NEXT:   called
; CHECK-NEXT:   asm activemask.b32 $0;
; CHECK-NEXT:   asm shfl.sync.idx.b32 $0, $1, 0, 31, -1;
; CHECK-NEXT:   asm griddepcontrol.launch_dependents;
; CHECK-NEXT:   asm nanosleep.u32 20;
; CHECK-NEXT:   ret
define void @harmless(i32 %v) {
  %a = call i32 asm sideeffect "activemask.b32 $0;", "=r,~{memory}"()
  %b = call i32 asm sideeffect "shfl.sync.idx.b32 $0, $1, 0, 31, -1;", "=r,r"(i32 %v)
  call void asm sideeffect "griddepcontrol.launch_dependents;", "~{memory}"()
  call void asm sideeffect "nanosleep.u32 20;", "~{memory}"()
  ret void
}

; CHECK:      function anything
; CHECK-NEXT:   called
; CHECK-NEXT:   unknown
; CHECK-NEXT:   asm griddepcontrol.wait;
; CHECK-NEXT:   unknown
; CHECK-NEXT:   unknown
; CHECK-NEXT:   asm frobnicate.sync.u32 $0;
; CHECK-NEXT:   unknown
; CHECK-NEXT:   unknown
; CHECK-NEXT:   asm 1 2 3
; CHECK-NEXT:   unknown
; CHECK-NEXT:   unknown
; CHECK-NEXT:   asm {.reg .u64 a; add.u64 a, $0, 4; red.release.gpu.add.u32 [a], 1;}
; CHECK-NEXT:   unknown
; CHECK-NEXT:   unknown
; CHECK-NEXT:   asm @p bar.sync 0;
; CHECK-NEXT:   unknown
; CHECK-NEXT:   unknown
; CHECK-NEXT:   asm frobnicate.sync.u32 $0;
; CHECK-NEXT:   unknown
; CHECK-NEXT:   ret
define void @anything(ptr %p) {
  call void asm sideeffect "griddepcontrol.wait;", "~{memory}"()
  %a = call i32 asm sideeffect "frobnicate.sync.u32 $0;", "=r"()
  call void asm sideeffect "1 2 3", ""()
  call void asm sideeffect "{.reg .u64 a; add.u64 a, $0, 4; red.release.gpu.add.u32 [a], 1;}", "l"(ptr %p)
  call void asm sideeffect "@p bar.sync 0;", ""()
  %t = call i32 asm "frobnicate.sync.u32 $0;", "=r"() memory(none)
  ret void
}
