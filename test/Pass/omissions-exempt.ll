; Intent: accesses of functions that the user exempted are counted, without a remark, where
; they stand and where they are inlined; what cannot race is not counted.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -pass-remarks-missed=cuda-race \
; RUN:   -S %s -o %t 2>&1 | FileCheck %s --allow-empty --implicit-check-not=remark:
; RUN: %python %S/Inputs/table-counts.py %t | FileCheck %s --check-prefix=COUNT
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes='default<O2>' \
; RUN:   -pass-remarks-missed=cuda-race -S %s -o %t 2>&1 | FileCheck %s --allow-empty --implicit-check-not=remark:
; RUN: %python %S/Inputs/table-counts.py %t | FileCheck %s --check-prefix=COUNT

; One in @exempt, two in @hint, which is inlined into @k.
; COUNT: unchecked 0 exempt 3
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @exempt(ptr addrspace(1) %p) disable_sanitizer_instrumentation {
  store i32 1, ptr addrspace(1) %p
  call void @llvm.nvvm.membar.gl()
  ret void
}

define ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %s) {
  call void @hint(ptr addrspace(1) %p, ptr addrspace(3) %s)
  store i32 3, ptr addrspace(1) %p
  ret void
}

define internal void @hint(ptr addrspace(1) %p, ptr addrspace(3) %s) disable_sanitizer_instrumentation {
  call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3) %s, i32 0)
  store i32 2, ptr addrspace(1) %p
  call void @llvm.nvvm.membar.gl()
  ret void
}
