; Intent: assembly in a loop may wait for another block if it accesses memory, and only then.
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
  %v = call i32 asm sideeffect "ld.acquire.gpu.global.u32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(1) %p)
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
  %v = call i32 asm sideeffect "mov.u32 $0, %clock;", "=r,~{memory}"()
  %c = icmp ult i32 %v, 10
  br i1 %c, label %loop, label %exit
exit:
  ret void
}
