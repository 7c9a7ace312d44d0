; Intent: the collider watches the operands of a matrix product (wgmma) from in front of the
; fence of its registers to behind the wait that ends it, where each wait for it is a
; statement of its own in the same function. Elsewhere the product is an omission.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s -o %t.ll \
; RUN:   -pass-remarks-missed=cuda-race 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:
; RUN: FileCheck %s < %t.ll

; REMARK: remark: {{.*}} access is not checked for races: it is made in the background
; REMARK: remark: {{.*}} access is not checked for races: it is made in the background
; REMARK: remark: {{.*}} access is not checked for races: it is made in the background

target triple = "nvptx64-nvidia-cuda"

; All warps of the warp group watch the same turns. Commits are counted, and the wait leaves
; one group.
; CHECK-LABEL: define ptx_kernel void @pipeline(
; CHECK:       mov.u32 $0, %ctaid.x;
; CHECK:       call i32 @__crsan_watch_product(ptr addrspacecast {{.*}}, i64 %a, i64 %b, i32 64, i32 8, i32
; CHECK:       wgmma.fence
; CHECK:       wgmma.mma_async
; CHECK:       add i32 %{{.*}}, 65536
; CHECK:       wgmma.commit_group
; CHECK-NEXT:  wgmma.wait_group
; CHECK-NEXT:  lshr i32 %{{.*}}, 16
; CHECK-NEXT:  icmp ugt i32 %{{.*}}, 1
; CHECK:       call void @__crsan_unwatch_product(
define ptx_kernel void @pipeline(i64 %a, i64 %b, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void asm sideeffect "wgmma.fence.sync.aligned;", "~{memory}"()
  %d = call float asm sideeffect "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 0, 0;", "=f,l,l,~{memory}"(i64 %a, i64 %b)
  call void asm sideeffect "wgmma.commit_group.sync.aligned;", "~{memory}"()
  call void asm sideeffect "wgmma.wait_group.sync.aligned $0;", "n,~{memory}"(i32 1)
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; The product has ended when the function returns. Its first operand is in registers.
; CHECK-LABEL: define float @closed(
; CHECK:       call i32 @__crsan_watch_product({{.*}}, i64 %b, i64 %b, i32 8, i32 0, i32
; CHECK:       call void @__crsan_unwatch_product(
; CHECK:       }
define float @closed(i32 %a, i64 %b) {
  call void asm sideeffect "wgmma.fence.sync.aligned;", "~{memory}"()
  %d = call float asm sideeffect "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0}, {$1, $1, $1, $1}, $2, 1, 1, 1;", "=f,r,l,~{memory}"(i32 %a, i64 %b)
  call void asm sideeffect "wgmma.commit_group.sync.aligned;", "~{memory}"()
  call void asm sideeffect "wgmma.wait_group.sync.aligned 0;", "~{memory}"()
  ret float %d
}

; Whoever calls it may wait.
; CHECK-LABEL: define float @open(
; CHECK-NOT:   @__crsan_watch_product
; CHECK:       }
define float @open(i64 %a, i64 %b) {
  %d = call float asm sideeffect "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 0, 0;", "=f,l,l,~{memory}"(i64 %a, i64 %b)
  call void asm sideeffect "wgmma.wait_group.sync.aligned 0;", "~{memory}"()
  ret float %d
}

; What is called may wait.
; CHECK-LABEL: define ptx_kernel void @calls(
; CHECK-NOT:   @__crsan_watch_product
; CHECK:       }
define ptx_kernel void @calls(i64 %a, i64 %b) {
  %d = call float @open(i64 %a, i64 %b)
  %e = call float asm sideeffect "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 0, 0;", "=f,l,l,~{memory}"(i64 %a, i64 %b)
  ret void
}

; What waits tells others at once.
; CHECK-LABEL: define ptx_kernel void @handed_on(
; CHECK-NOT:   @__crsan_watch_product
; CHECK:       }
define ptx_kernel void @handed_on(i64 %a, i64 %b, i32 %s) {
  %e = call float asm sideeffect "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 0, 0;", "=f,l,l,~{memory}"(i64 %a, i64 %b)
  call void asm sideeffect "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}"(i32 %s)
  ret void
}
