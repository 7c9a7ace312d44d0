; Intent: where lanes of a warp may part, accesses of both sides that may conflict are checked
; together in front of the branch, under its condition; the addresses are computed ahead.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @both(
; CHECK: [[LOW:%.*]] = icmp ult i32 %t, 16
; CHECK: getelementptr i32, ptr addrspace(3) %s, i32 %t
; CHECK: [[THERE:%.*]] = select i1 {{%.*}}, i64 4, i64 0
; CHECK: [[HERE:%.*]] = select i1 {{%.*}}, i64 4, i64 0
; CHECK: call i32 @__crsan_check({{.*}}, i32 2)
; CHECK: br i1 [[LOW]], label %left, label %right
; CHECK: call i32 @__crsan_check({{.*}}, i32 1)
; CHECK: store i32 1
; CHECK: call i32 @__crsan_check({{.*}}, i32 1)
; CHECK: load i32
define ptx_kernel void @both(ptr addrspace(3) %s) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %t, 16
  br i1 %low, label %left, label %right
left:
  %p = getelementptr inbounds i32, ptr addrspace(3) %s, i32 %t
  store i32 1, ptr addrspace(3) %p
  br label %end
right:
  %v = load i32, ptr addrspace(3) %s
  br label %end
end:
  ret void
}

; Both sides lead to the next iteration of the loop, whose addresses the branch does not know.
; CHECK-LABEL: define ptx_kernel void @rounds(
; CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.all
; CHECK-NOT: @__crsan_check
; CHECK: br i1 %low, label %left, label %right
; CHECK: call i32 @__crsan_check({{.*}}, i32 1)
; CHECK: call i32 @__crsan_check({{.*}}, i32 1)
define ptx_kernel void @rounds(ptr addrspace(1) %p, ptr addrspace(1) %q, ptr addrspace(3) %s, i32 %start) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %t, 16
  br label %head
head:
  %i = phi i32 [ %start, %entry ], [ %next, %left ], [ %next, %right ]
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %i
  store i32 1, ptr addrspace(1) %at
  %next = add i32 %i, 32
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %low, label %left, label %right
left:
  store i32 1, ptr addrspace(3) %s
  br label %head
right:
  store i32 1, ptr addrspace(1) %q
  br label %head
}

; What all lanes do behind the branch, too.
; CHECK-LABEL: define ptx_kernel void @behind(
; CHECK: call i32 @__crsan_check({{.*}}, i32 2)
; CHECK: br i1 %low, label %left, label %end
define ptx_kernel void @behind(ptr addrspace(3) %s) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %t, 16
  br i1 %low, label %left, label %end
left:
  store i32 1, ptr addrspace(3) %s
  br label %end
end:
  %v = load i32, ptr addrspace(3) %s
  ret void
}

; CHECK-LABEL: define ptx_kernel void @ordered(
; CHECK-NOT: call i32 @__crsan_check
; CHECK: br i1 %low, label %left, label %end
define ptx_kernel void @ordered(ptr addrspace(3) %s) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %t, 16
  br i1 %low, label %left, label %end
left:
  store i32 1, ptr addrspace(3) %s
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  br label %end
end:
  %v = load i32, ptr addrspace(3) %s
  ret void
}

; All lanes go one way.
; CHECK-LABEL: define ptx_kernel void @uniform(
; CHECK-NOT: call i32 @__crsan_check
; CHECK: br i1 %low, label %left, label %right
define ptx_kernel void @uniform(ptr addrspace(3) %s, i32 %n) {
  %low = icmp ult i32 %n, 16
  br i1 %low, label %left, label %right
left:
  store i32 1, ptr addrspace(3) %s
  ret void
right:
  %v = load i32, ptr addrspace(3) %s
  ret void
}

; Nothing can conflict.
; CHECK-LABEL: define ptx_kernel void @apart(
; CHECK-NOT: call i32 @__crsan_check
; CHECK: br i1 %low, label %left, label %right
define ptx_kernel void @apart() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %t, 16
  br i1 %low, label %left, label %right
left:
  store i32 1, ptr addrspace(3) @a
  ret void
right:
  store i32 1, ptr addrspace(3) @b
  ret void
}

; An address that is read on the side is not known in front of it.
; CHECK-LABEL: define ptx_kernel void @unknown(
; CHECK-NOT: call i32 @__crsan_check({{.*}}, i32 2)
; CHECK: ret void
define ptx_kernel void @unknown(ptr addrspace(3) %s, ptr addrspace(1) %i) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %t, 16
  br i1 %low, label %left, label %right
left:
  %n = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  %p = getelementptr i32, ptr addrspace(3) %s, i32 %n
  store i32 1, ptr addrspace(3) %p
  br label %end
right:
  %v = load i32, ptr addrspace(3) %s
  br label %end
end:
  ret void
}

@a = internal addrspace(3) global i32 undef
@b = internal addrspace(3) global i32 undef
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
