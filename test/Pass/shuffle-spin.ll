; Intent: blocks are not shuffled in a program that may wait for another block.
; RUN: split-file %s %t
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -S %t/depends.ll \
; RUN:   | %python %S/Inputs/table-flags.py | FileCheck %s --check-prefix=DEPENDS
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -S %t/free.ll \
; RUN:   | %python %S/Inputs/table-flags.py | FileCheck %s --check-prefix=FREE
; DEPENDS: flags NoShuffle HasCollider
; FREE: flags HasCollider

;--- depends.ll
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p) {
entry:
  br label %spin
spin:
  %v = load atomic i32, ptr addrspace(1) %p acquire, align 4
  %c = icmp eq i32 %v, 0
  br i1 %c, label %spin, label %exit
exit:
  ret void
}

;--- free.ll
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %old = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic
  %c = icmp ult i32 %next, 10
  br i1 %c, label %loop, label %exit
exit:
  ret void
}
