; Intent: sites are marked as racing at any time (abi::RacesAnyTime, 16) in kernels whose blocks nothing can order, and in no other function; and as racing between two barriers (abi::RacesInInterval, 32) where the kernel has all of its barriers, which it counts.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -crsan-whole-program -verify-each -S %s -o %t.ll
; RUN: FileCheck %s --check-prefix=COUNT --input-file=%t.ll
; RUN: %python -c "import re, sys; W = [int(X) for X in re.search(r'@__crsan_sites_\S+ = .*?\[i64 (.*?)\], align', open(sys.argv[1]).read()).group(1).split(', i64 ')]; print('\n'.join('%%s %%s' %% (F, W[6 * I + 1] >> 60 & 3) for I, F in enumerate(sys.argv[2:])))" %t.ll plain barrier loop loop relaxed legacy heap called volatile ordered compared fence fencing unknown reserved cluster caller calls_barrier counted not_kernel | FileCheck %s
; The same for relocatable code.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s -o %t.rdc.ll
; RUN: %python -c "import re, sys; W = [int(X) for X in re.search(r'@__crsan_sites_\S+ = .*?\[i64 (.*?)\], align', open(sys.argv[1]).read()).group(1).split(', i64 ')]; print('\n'.join('%%s %%s' %% (F, W[6 * I + 1] >> 60 & 3) for I, F in enumerate(sys.argv[2:])))" %t.rdc.ll plain barrier loop loop relaxed legacy heap called volatile ordered compared fence fencing unknown reserved cluster caller calls_barrier counted not_kernel | FileCheck %s
target triple = "nvptx64-nvidia-cuda"

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cluster.arrive()
declare void @llvm.nvvm.barrier.cluster.wait()
declare ptr @malloc(i64)
declare i32 @vprintf(ptr, ptr)
declare void @elsewhere()
declare void @__nv_elsewhere()

; CHECK: plain 3
define ptx_kernel void @plain(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  ret void
}

; CHECK-NEXT: barrier 3
define ptx_kernel void @barrier(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %printed = call i32 @vprintf(ptr null, ptr null)
  ret void
}

; COUNT-LABEL: define ptx_kernel void @loop(
; COUNT: %[[THROUGH:.*]] = phi i32 [ 0, %{{.*}} ], [ %[[NEXT:.*]], %{{.*}} ]
; COUNT: call i32 @__crsan_check({{.*}}, i32 %[[THROUGH]], i32 1)
; COUNT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; COUNT-NEXT: %[[NEXT]] = add i32 %[[THROUGH]], 1
; COUNT: call i32 @__crsan_check({{.*}}, i32 %[[NEXT]], i32 1)
; CHECK-NEXT: loop 3
; CHECK-NEXT: loop 3
define ptx_kernel void @loop(ptr addrspace(1) %to, i32 %n) {
entry:
  br label %body
body:
  %i = phi i32 [ 0, %entry ], [ %more, %body ]
  store i32 1, ptr addrspace(1) %to
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 2, ptr addrspace(1) %to
  %more = add i32 %i, 1
  %again = icmp slt i32 %more, %n
  br i1 %again, label %body, label %end
end:
  ret void
}

; CHECK-NEXT: relaxed 3
define ptx_kernel void @relaxed(ptr addrspace(1) %to, ptr addrspace(1) %count) {
  store i32 1, ptr addrspace(1) %to
  %old = atomicrmw add ptr addrspace(1) %count, i32 1 syncscope("device") monotonic
  ret void
}

define internal i32 @_ZL11__iAtomicAddPii(ptr %p, i32 %v) {
  %old = atomicrmw add ptr %p, i32 %v seq_cst
  ret i32 %old
}
; CHECK-NEXT: legacy 3
define ptx_kernel void @legacy(ptr addrspace(1) %to, ptr %count) {
  store i32 1, ptr addrspace(1) %to
  %old = call i32 @_ZL11__iAtomicAddPii(ptr %count, i32 1)
  ret void
}

; CHECK-NEXT: heap 0
define ptx_kernel void @heap(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  %p = call ptr @malloc(i64 8)
  ret void
}

define internal void @fences() {
  fence syncscope("device") seq_cst
  ret void
}
; CHECK-NEXT: called 0
define ptx_kernel void @called(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  call void @fences()
  ret void
}

; CHECK-NEXT: volatile 0
define ptx_kernel void @volatile(ptr addrspace(1) %to, ptr addrspace(1) %flag) {
  store i32 1, ptr addrspace(1) %to
  store volatile i32 1, ptr addrspace(1) %flag
  ret void
}

; CHECK-NEXT: ordered 0
define ptx_kernel void @ordered(ptr addrspace(1) %to, ptr addrspace(1) %count) {
  store i32 1, ptr addrspace(1) %to
  %old = atomicrmw add ptr addrspace(1) %count, i32 1 seq_cst
  ret void
}

define internal void @_ZL11__iAtomicCASPiii(ptr %p, i32 %c, i32 %v) {
  %old = cmpxchg ptr %p, i32 %c, i32 %v seq_cst seq_cst
  ret void
}
; What clang makes of it fences.
; CHECK-NEXT: compared 0
define ptx_kernel void @compared(ptr addrspace(1) %to, ptr %flag) {
  store i32 1, ptr addrspace(1) %to
  call void @_ZL11__iAtomicCASPiii(ptr %flag, i32 0, i32 1)
  ret void
}

; CHECK-NEXT: fence 0
define ptx_kernel void @fence(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  fence syncscope("device") acq_rel
  ret void
}

; CHECK-NEXT: fencing 0
define ptx_kernel void @fencing(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"()
  ret void
}

; CHECK-NEXT: unknown 0
define ptx_kernel void @unknown(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  call void @elsewhere()
  ret void
}

; A name that CUDA reserves says nothing of a function that is elsewhere.
; CHECK-NEXT: reserved 0
define ptx_kernel void @reserved(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  call void @__nv_elsewhere()
  ret void
}

; CHECK-NEXT: cluster 0
define ptx_kernel void @cluster(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  call void @llvm.nvvm.barrier.cluster.arrive()
  call void @llvm.nvvm.barrier.cluster.wait()
  ret void
}

; CHECK-NEXT: caller 3
define ptx_kernel void @caller(ptr addrspace(1) %to, ptr addrspace(1) %other) {
  store i32 1, ptr addrspace(1) %to
  call void @not_kernel(ptr addrspace(1) %other)
  ret void
}

define internal void @waits() noinline {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
; CHECK-NEXT: calls_barrier 1
define ptx_kernel void @calls_barrier(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  call void @waits()
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
; A barrier of a part of the block orders some warps.
; CHECK-NEXT: counted 0
define ptx_kernel void @counted(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)
  ret void
}

; CHECK-NEXT: not_kernel 0
define internal void @not_kernel(ptr addrspace(1) %to) {
  store i32 1, ptr addrspace(1) %to
  ret void
}
