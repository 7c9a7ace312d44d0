; Intent: every read of a block index is permuted, in functions that are not checked too.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK: [[RAW:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK: [[EXTENT:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
; CHECK: [[X:%.*]] = call i32 @__crsan_block_index(i32 0, i32 [[RAW]], i32 [[EXTENT]])
; CHECK: store i32 [[X]]
; CHECK: store i32 [[X]]
define ptx_kernel void @k(ptr addrspace(1) %p) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i32 %x, ptr addrspace(1) %p
  %again = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i32 %again, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define i32 @ignored(
; CHECK: [[Y:%.*]] = call i32 @__crsan_block_index(i32 1,
; CHECK: ret i32 [[Y]]
define i32 @ignored() disable_sanitizer_instrumentation {
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  ret i32 %y
}

; CHECK-LABEL: define i32 @other(
; CHECK: [[Z:%.*]] = call i32 @__crsan_block_index(i32 2,
; CHECK: ret i32 [[Z]]
define i32 @other() {
  %z = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  ret i32 %z
}

; A thread's index has nothing to do with it.
; CHECK-LABEL: define i32 @thread(
; CHECK-NOT: __crsan
; CHECK: ret i32
define i32 @thread() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %t
}
