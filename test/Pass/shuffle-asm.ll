; Intent: blocks are not shuffled where assembly reads the block index itself.
; RUN: split-file %s %t
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -S %t/depends.ll \
; RUN:   | %python %S/Inputs/table-flags.py | FileCheck %s --check-prefix=DEPENDS
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -S %t/free.ll \
; RUN:   | %python %S/Inputs/table-flags.py | FileCheck %s --check-prefix=FREE
; DEPENDS: flags NoShuffle HasCollider
; FREE: flags HasCollider

;--- depends.ll
target triple = "nvptx64-nvidia-cuda"
define i32 @f() {
  %x = call i32 asm "mov.u32 $0, %ctaid.x;", "=r"()
  ret i32 %x
}

;--- free.ll
target triple = "nvptx64-nvidia-cuda"
define i32 @f() {
  %x = call i32 asm "mov.u32 $0, %tid.x;", "=r"()
  ret i32 %x
}
