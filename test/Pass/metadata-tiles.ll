; Intent: accesses of shared variables that barriers keep apart from all writes are not checked, and
; those where each thread has a place of its own only if the block is wider than that.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [16 x [16 x i32]] undef
@known = internal addrspace(3) global i32 undef
@keep = internal addrspace(1) global ptr null

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)

; CHECK-LABEL: define ptx_kernel void @behind(
; CHECK:       [[WIDTH:%.+]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; CHECK:       call {{.*}} @__crsan_md_enter(
; CHECK:       store i32 1, ptr addrspace(3)
; CHECK:       br i1
; CHECK:       atom.relaxed.cta.global.exch.b64
; CHECK:       call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(
; CHECK:       load i32, ptr addrspace(3)
; CHECK-NOT:   call void @__crsan_md_check
; CHECK:       call void @__crsan_md_leave(
define ptx_kernel void @behind(i32 %i) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %at = getelementptr [16 x [16 x i32]], ptr addrspace(3) @tile, i32 0, i32 %y, i32 %x
  store i32 1, ptr addrspace(3) %at
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %other = getelementptr i32, ptr addrspace(3) @tile, i32 %i
  %v = load i32, ptr addrspace(3) %other
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}

; Some threads wait there, and others do not.
; CHECK-LABEL: define ptx_kernel void @someWait(
; CHECK:       load i32, ptr addrspace(3)
; CHECK:       call void @__crsan_md_check
; CHECK:       ret void
define ptx_kernel void @someWait(i32 %i) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr addrspace(3) @tile, i32 %x
  store i32 1, ptr addrspace(3) %at
  %is = icmp ult i32 %x, 16
  br i1 %is, label %wait, label %on
wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %on
on:
  %other = getelementptr i32, ptr addrspace(3) @tile, i32 %i
  %v = load i32, ptr addrspace(3) %other
  ret void
}

; At one barrier, some, and at another, others.
; CHECK-LABEL: define ptx_kernel void @elsewhere(
; CHECK:       load i32, ptr addrspace(3)
; CHECK:       call void @__crsan_md_check
; CHECK:       ret void
define ptx_kernel void @elsewhere(i32 %i) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %is = icmp ult i32 %x, 16
  br i1 %is, label %one, label %two
one:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %at = getelementptr i32, ptr addrspace(3) @tile, i32 %x
  store i32 1, ptr addrspace(3) %at
  ret void
two:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %other = getelementptr i32, ptr addrspace(3) @tile, i32 %i
  %v = load i32, ptr addrspace(3) %other
  ret void
}

; Other accesses than these.
; CHECK-LABEL: define ptx_kernel void @kept(
; CHECK:       load i32, ptr addrspace(3) @known
; CHECK:       call void @__crsan_md_check
; CHECK:       ret void
define ptx_kernel void @kept() {
  store ptr addrspacecast (ptr addrspace(3) @known to ptr), ptr addrspace(1) @keep
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load i32, ptr addrspace(3) @known
  ret void
}

; CHECK-LABEL: define ptx_kernel void @count(
; CHECK-NOT:   call void @__crsan_md_check
; CHECK:       ret void
define ptx_kernel void @count(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  atomicrmw add ptr addrspace(3) @known, i32 1 syncscope("device") monotonic
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load i32, ptr addrspace(3) @known
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}
