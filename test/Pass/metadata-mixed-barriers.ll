; Intent: where threads may come to one barrier with a count and without, it is told as the
; block's and by its number, and none of the block's later barriers is known by how many
; there were.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines
; RUN: sed s/%n,/3,/ %s | %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S - \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines --check-prefix=APART

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function meet
; CHECK-NEXT:   called
; CHECK-NEXT:   publish(0, 0)
; CHECK-NEXT:   block_arrive_uneven
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.sync.aligned.all
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   collect(0, 0)
; CHECK-NEXT:   publish(1, 0)
; CHECK-NEXT:   block_arrive_uneven
; CHECK-NEXT:   asm barrier.sync 1;
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   collect(1, 0)
; CHECK-NEXT:   ret

; APART:      function meet
; APART-NEXT:   called
; APART-NEXT:   asm bar.warp.sync 0xffffffff;
; APART-NEXT:   block_arrive(null)
; APART-NEXT:   call @llvm.nvvm.barrier.cta.sync.aligned.all
; APART-NEXT:   block_depart(null)
; APART-NEXT:   block_arrive(null)
; APART-NEXT:   asm barrier.sync 1;
; APART-NEXT:   block_depart(null)
; APART-NEXT:   ret
define void @meet() {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void asm sideeffect "barrier.sync 1;", "~{memory}"()
  ret void
}

; CHECK:      function some
; CHECK-NEXT:   called
; CHECK-NEXT:   publish(%n, 0)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.sync.aligned.count
; CHECK-NEXT:   collect(%n, 0)
; CHECK-NEXT:   ret
define void @some(i32 %n) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 %n, i32 64)
  ret void
}
