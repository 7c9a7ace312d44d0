; Intent: asynchronous copies are told of where they begin, with what they read, and so is
; what their thread does to wait for them; what cannot be followed is not told of.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function whole
; CHECK-NEXT:   called
; CHECK-NEXT:   copy(store 16 shared, %s+32, 16)
; CHECK-NEXT:   access(load 16 global, %p+-8)
; CHECK-NEXT:   asm cp.async.cg.shared.global.L2::128B [$0+32], [$1+-8], $2;
; CHECK-NEXT:   commit_copies
; CHECK-NEXT:   asm cp.async.commit_group;
; CHECK-NEXT:   copy(store 4 shared, %s, 4)
; CHECK-NEXT:   access(load 4 global, %p)
; CHECK-NEXT:   asm cp.async.ca.shared.global.L2::cache_hint [$0], [$1], 4, $2;
; CHECK-NEXT:   await_copies(1)
; CHECK-NEXT:   asm cp.async.wait_group $0;
; CHECK-NEXT:   await_all_copies
; CHECK-NEXT:   asm cp.async.wait_all;
; CHECK-NEXT:   ret
define void @whole(ptr %p, i32 %s, i64 %policy) {
  call void asm sideeffect "cp.async.cg.shared.global.L2::128B [$0+32], [$1+-8], $2;", "r,l,n,~{memory}"(i32 %s, ptr %p, i32 16)
  call void asm sideeffect "cp.async.commit_group;", ""()
  call void asm sideeffect "cp.async.ca.shared.global.L2::cache_hint [$0], [$1], 4, $2;", "r,l,l,~{memory}"(i32 %s, ptr %p, i64 %policy)
  call void asm sideeffect "cp.async.wait_group $0;", "n"(i32 1)
  call void asm sideeffect "cp.async.wait_all;", "~{memory}"()
  ret void
}

; Zeros are written where nothing is read.
; CHECK:      function parts
; CHECK-NEXT:   called
; CHECK-NEXT:   copy(store 16 shared, %s, 16)
; CHECK-NEXT:   access(load 12 global, %p)
; CHECK-NEXT:   asm cp.async.cg.shared.global [$0], [$1], 16, 12;
; CHECK-NEXT:   copy(store 16 shared, %s, 16)
; CHECK-NEXT:   asm cp.async.cg.shared.global [$0], [$1], 16, 0;
; CHECK-NEXT:   copy(store 16 shared, %s, 16)
; CHECK-NEXT:   range(load 0 global, %p, %n)
; CHECK-NEXT:   asm cp.async.cg.shared.global [$0], [$1], 16, $2;
; CHECK-NEXT:   copy(store 16 shared, %s, 16)
; CHECK-NEXT:   range(load 0 global, %p, %n != 0 ? 16 : 0)
; CHECK-NEXT:   asm {.reg .pred q; setp.ne.u32 q, $2, 0; cp.async.cg.shared.global [$0], [$1], 16, !q;}
; CHECK-NEXT:   copy(store 16 shared, %s, 16)
; CHECK-NEXT:   range(load 0 global, %p, %ignore != true ? 16 : 0)
; CHECK-NEXT:   asm cp.async.cg.shared.global [$0], [$1], 16, $2;
; CHECK-NEXT:   copy(store 16 shared, %s, 16)
; CHECK-NEXT:   range(load 0 global, %p, %ignore == true ? 16 : 0)
; CHECK-NEXT:   asm cp.async.cg.shared.global [$0], [$1], 16, !$2;
; CHECK-NEXT:   ret
define void @parts(ptr %p, i32 %s, i32 %n, i1 %ignore) {
  call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16, 12;", "r,l,~{memory}"(i32 %s, ptr %p)
  call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16, 0;", "r,l,~{memory}"(i32 %s, ptr %p)
  call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}"(i32 %s, ptr %p, i32 %n)
  call void asm sideeffect "{.reg .pred q; setp.ne.u32 q, $2, 0; cp.async.cg.shared.global [$0], [$1], 16, !q;}", "r,l,r,~{memory}"(i32 %s, ptr %p, i32 %n)
  call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,b,~{memory}"(i32 %s, ptr %p, i1 %ignore)
  call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16, !$2;", "r,l,b,~{memory}"(i32 %s, ptr %p, i1 %ignore)
  ret void
}

; CHECK:      function guarded
; CHECK-NEXT:   called
; CHECK-NEXT:   copy(store 0 shared, %s, %n != 0 ? 16 : 0)
; CHECK-NEXT:   range(load 0 global, %p, %n != 0 ? 16 : 0)
; CHECK-NEXT:   asm {.reg .pred q; setp.ne.b32 q, $2, 0; @q cp.async.cg.shared.global [$0], [$1], 16;}
; CHECK-NEXT:   ret
define void @guarded(ptr %p, i32 %s, i32 %n) {
  call void asm sideeffect "{.reg .pred q; setp.ne.b32 q, $2, 0; @q cp.async.cg.shared.global [$0], [$1], 16;}", "r,l,r,~{memory}"(i32 %s, ptr %p, i32 %n)
  ret void
}

; Whoever waits at an mbarrier waits for the copies that arrive there.
; CHECK:      function arrivals
; CHECK-NEXT:   called
; CHECK-NEXT:   await_all_copies
; CHECK-NEXT:   publish(%s, 0)
; CHECK-NEXT:   asm cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];
; CHECK-NEXT:   await_all_copies
; CHECK-NEXT:   publish(%b, 0)
; CHECK-NEXT:   call @llvm.nvvm.cp.async.mbarrier.arrive.shared
; CHECK-NEXT:   ret
define void @arrivals(i32 %s, ptr addrspace(3) %b) {
  call void asm sideeffect "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r,~{memory}"(i32 %s)
  call void @llvm.nvvm.cp.async.mbarrier.arrive.shared(ptr addrspace(3) %b)
  ret void
}

; CHECK:      function intrinsics
; CHECK-NEXT:   called
; CHECK-NEXT:   copy(store 8 shared, %s, 8)
; CHECK-NEXT:   access(load 8 global, %p)
; CHECK-NEXT:   call @llvm.nvvm.cp.async.ca.shared.global.8
; CHECK-NEXT:   copy(store 16 shared, %s, 16)
; CHECK-NEXT:   range(load 0 global, %p, %n)
; CHECK-NEXT:   call @llvm.nvvm.cp.async.cg.shared.global.16.s
; CHECK-NEXT:   commit_copies
; CHECK-NEXT:   call @llvm.nvvm.cp.async.commit.group
; CHECK-NEXT:   await_copies(2)
; CHECK-NEXT:   call @llvm.nvvm.cp.async.wait.group
; CHECK-NEXT:   await_all_copies
; CHECK-NEXT:   call @llvm.nvvm.cp.async.wait.all
; CHECK-NEXT:   copy(store 16 global, %p, 16)
; CHECK-NEXT:   copy(load 16 shared, %s, 16)
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   call @llvm.nvvm.cp.async.bulk.shared.cta.to.global
; CHECK-NEXT:   commit_copies
; CHECK-NEXT:   call @llvm.nvvm.cp.async.bulk.commit.group
; CHECK-NEXT:   await_bulk(0, 0)
; CHECK-NEXT:   call @llvm.nvvm.cp.async.bulk.wait.group
; CHECK-NEXT:   await_bulk(1, 1)
; CHECK-NEXT:   call @llvm.nvvm.cp.async.bulk.wait.group.read
; CHECK-NEXT:   ret
define void @intrinsics(ptr addrspace(3) %s, ptr addrspace(1) %p, i32 %n) {
  call void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3) %s, ptr addrspace(1) %p)
  call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) %s, ptr addrspace(1) %p, i32 %n)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 2)
  call void @llvm.nvvm.cp.async.wait.all()
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1) %p, ptr addrspace(3) %s, i32 16, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)
  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 1)
  ret void
}

; A copy that completes at an mbarrier says at which.
; CHECK:      function bulk
; CHECK-NEXT:   called
; CHECK-NEXT:   copy(store 0 cluster, %s, %n, %b)
; CHECK-NEXT:   copy(load 0 global, %p, %n, %b)
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   asm cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];
; CHECK-NEXT:   copy(store 0 cluster, %s, %n, %b)
; CHECK-NEXT:   copy(load 0 shared, %s, %n, %b)
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   asm cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$0], [$0], $1, [$2];
; CHECK-NEXT:   copy(update 64 global device relaxed atomic, %p, 64)
; CHECK-NEXT:   copy(load 64 shared, %s, 64)
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   asm cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$0], [$1], 64;
; CHECK-NEXT:   ret
define void @bulk(ptr %p, i32 %s, i32 %n, i32 %b) {
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 %s, ptr %p, i32 %n, i32 %b)
  call void asm sideeffect "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$0], [$0], $1, [$2];", "r,r,r,~{memory}"(i32 %s, i32 %n, i32 %b)
  call void asm sideeffect "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$0], [$1], 64;", "l,r,~{memory}"(ptr %p, i32 %s)
  ret void
}

; Of several blocks, a mask says which are written. How large a box of a tensor is, its
; map says.
; CHECK:      function many
; CHECK-NEXT:   called
; CHECK-NEXT:   multicast(store 0 cluster, %s, 64, %b, 3)
; CHECK-NEXT:   copy(load 64 global, %p, 64, %b)
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   asm cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1], 64, [$2], 3;
; CHECK-NEXT:   copy(store 0 cluster, %s, box(%p, 2, %x, -4, 0, 0, 0, 0), %b)
; CHECK-NEXT:   tensor(load 0 global, %p, 2, %x, -4, 0, 0, 0, %b)
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   asm cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, -4}], [$3];
; CHECK-NEXT:   tensor(store 0 global, %p, 1, %x, 0, 0, 0, 0, 0)
; CHECK-NEXT:   copy(load 0 shared, %s, box(%p, 1, %x, 0, 0, 0, 0, 1))
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   asm cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [$0, {$2}], [$1];
; CHECK-NEXT:   ret
define void @many(ptr %p, i32 %s, i32 %x, i32 %b) {
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1], 64, [$2], 3;", "r,l,r,~{memory}"(i32 %s, ptr %p, i32 %b)
  call void asm sideeffect "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, -4}], [$3];", "r,l,r,r,~{memory}"(i32 %s, ptr %p, i32 %x, i32 %b)
  call void asm sideeffect "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [$0, {$2}], [$1];", "l,r,r,~{memory}"(ptr %p, i32 %s, i32 %x)
  ret void
}

; The check of what a thread reads comes before what its next copy leaves there.
; CHECK:      function behind
; CHECK-NEXT:   called
; CHECK-NEXT:   access(load 4 shared, %s)
; CHECK-NEXT:   load
; CHECK-NEXT:   copy(store 4 shared, %s, 4)
; CHECK-NEXT:   access(load 4 global, %p)
; CHECK-NEXT:   call @llvm.nvvm.cp.async.ca.shared.global.4
; CHECK-NEXT:   ret
define void @behind(ptr addrspace(3) %s, ptr addrspace(1) %p) {
  %v = load i32, ptr addrspace(3) %s
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %s, ptr addrspace(1) %p)
  ret void
}

; What the statement has accessed or ordered before; where it may branch; what its address
; is. But it waits, whatever it waits for.
; CHECK:      function unfollowed
; CHECK-NEXT:   called
; CHECK-NEXT:   access(load 4 shared, %s)
; CHECK-NEXT:   asm ld.shared.u32 $0, [$1]; cp.async.ca.shared.global [$1], [$2], 4;
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   asm bar.sync 0; cp.async.ca.shared.global [$0], [$1], 4;
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   asm {@q bra L; cp.async.ca.shared.global [$0], [$1], 4; L:}
; CHECK-NEXT:   asm {.reg .u32 a; add.u32 a, $0, 4; cp.async.ca.shared.global [a], [$1], 4;}
; CHECK-NEXT:   await_all_copies
; CHECK-NEXT:   asm {@q bra L; cp.async.wait_all; L:}
; CHECK-NEXT:   ret
define void @unfollowed(i32 %s, ptr %p) {
  %v = call i32 asm sideeffect "ld.shared.u32 $0, [$1]; cp.async.ca.shared.global [$1], [$2], 4;", "=r,r,l,~{memory}"(i32 %s, ptr %p)
  call void asm sideeffect "bar.sync 0; cp.async.ca.shared.global [$0], [$1], 4;", "r,l,~{memory}"(i32 %s, ptr %p)
  call void asm sideeffect "{@q bra L; cp.async.ca.shared.global [$0], [$1], 4; L:}", "r,l,~{memory}"(i32 %s, ptr %p)
  call void asm sideeffect "{.reg .u32 a; add.u32 a, $0, 4; cp.async.ca.shared.global [a], [$1], 4;}", "r,l,~{memory}"(i32 %s, ptr %p)
  call void asm sideeffect "{@q bra L; cp.async.wait_all; L:}", "~{memory}"()
  ret void
}

declare void @llvm.nvvm.cp.async.mbarrier.arrive.shared(ptr addrspace(3))
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare void @llvm.nvvm.cp.async.wait.all()
declare void @llvm.nvvm.cp.async.bulk.commit.group()
declare void @llvm.nvvm.cp.async.bulk.wait.group(i32)
declare void @llvm.nvvm.cp.async.bulk.wait.group.read(i32)
declare void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1), ptr addrspace(3), i32, i64, i1)
