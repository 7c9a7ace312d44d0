; Intent: a matrix product of a warp group (wgmma) is told in front of the fence of its
; registers, and so is its commit; the wait is told behind it. What cannot be moved there is
; told where it is.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; 0x10040: 64 rows by columns; 64 and 8: rows.
; CHECK:      function chain
; CHECK-NEXT:   called
; CHECK-NEXT:   operand(load 2048 shared, %a, 65600)
; CHECK-NEXT:   operand(load 256 shared, %b, 8)
; CHECK-NEXT:   operand(load 2048 shared, %a+2, 64)
; CHECK-NEXT:   operand(load 256 shared, %b+2, 8)
; CHECK-NEXT:   commit_products
; CHECK-NEXT:   asm wgmma.fence.sync.aligned;
; CHECK-NEXT:   asm wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 1, 0;
; CHECK-NEXT:   asm wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 0, 0;
; CHECK-NEXT:   asm wgmma.commit_group.sync.aligned;
; CHECK-NEXT:   asm wgmma.wait_group.sync.aligned $0;
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   await_products(1)
; CHECK-NEXT:   ret
define float @chain(i64 %a, i64 %b) {
  call void asm sideeffect "wgmma.fence.sync.aligned;", "~{memory}"()
  %d = call float asm sideeffect "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 1, 0;", "=f,l,l,~{memory}"(i64 %a, i64 %b)
  %a2 = add i64 %a, 2
  %b2 = add i64 %b, 2
  %e = call float asm sideeffect "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 0, 0;", "=f,l,l,~{memory}"(i64 %a2, i64 %b2)
  call void asm sideeffect "wgmma.commit_group.sync.aligned;", "~{memory}"()
  call void asm sideeffect "wgmma.wait_group.sync.aligned $0;", "n,~{memory}"(i32 1)
  ret float %e
}

; A read may return something else in front of the fence, and the commit may not come before
; the product.
; CHECK:      function read
; CHECK-NEXT:   called
; CHECK:        asm wgmma.fence.sync.aligned;
; CHECK:        operand(load 256 shared, %x, 8)
; CHECK-NEXT:   asm wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0}, {$1, $1, $1, $1}, $2, 1, 1, 1;
; CHECK-NEXT:   commit_products
; CHECK-NEXT:   asm wgmma.commit_group.sync.aligned;
; CHECK-NEXT:   ret
define float @read(i32 %a, ptr addrspace(1) %p) {
  call void asm sideeffect "wgmma.fence.sync.aligned;", "~{memory}"()
  %x = load i64, ptr addrspace(1) %p
  %d = call float asm sideeffect "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0}, {$1, $1, $1, $1}, $2, 1, 1, 1;", "=f,r,l,~{memory}"(i32 %a, i64 %x)
  call void asm sideeffect "wgmma.commit_group.sync.aligned;", "~{memory}"()
  ret float %d
}

; What the statement hands on includes the products.
; CHECK:      function handed_on
; CHECK-NEXT:   called
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   await_products(0)
; CHECK-NEXT:   publish(%s, 0)
; CHECK-NEXT:   asm wgmma.wait_group.sync.aligned 0; mbarrier.arrive.shared::cta.b64 _, [$0];
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   ret
define void @handed_on(i32 %s) {
  call void asm sideeffect "wgmma.wait_group.sync.aligned 0; mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}"(i32 %s)
  ret void
}

; An mbarrier that tensor memory arrives at tells its waiters what its thread has done.
; CHECK:      function committed
; CHECK-NEXT:   called
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   publish(%s, 1)
; CHECK-NEXT:   asm tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   proxy_fence
; CHECK-NEXT:   publish(%b, 1)
; CHECK-NEXT:   call @llvm.nvvm.tcgen05.commit.shared.cg1
; CHECK-NEXT:   ret
define void @committed(i32 %s, ptr addrspace(3) %b) {
  call void asm sideeffect "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];", "r,~{memory}"(i32 %s)
  call void @llvm.nvvm.tcgen05.commit.shared.cg1(ptr addrspace(3) %b)
  ret void
}
