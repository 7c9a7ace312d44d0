; Intent: code that is not to be checked orders memory all the same.
; RUN: split-file %s %t
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-ignorelist=%t/list -passes=crsan-mark,crsan -verify-each -S %t/k.ll \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

; CHECK:      function exempt
; CHECK-NEXT:   called
; CHECK-NEXT:   store
; CHECK-NEXT:   publish(%p, 2)
; CHECK-NEXT:   atomicrmw
; CHECK-NEXT:   collect(%p, 2)
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   call @llvm.nvvm.barrier.cta.sync.all
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   ret
; CHECK:      function listed
; CHECK-NEXT:   called
; CHECK-NEXT:   load
; CHECK-NEXT:   asm st.u32 [$0], 1;
; CHECK-NEXT:   publish(%p, 0)
; CHECK-NEXT:   asm st.release.cta.u32 [$0], 1;
; CHECK-NEXT:   collect(%p, 0)
; CHECK-NEXT:   ret

;--- list
[cuda-race]
fun:listed

;--- k.ll
target triple = "nvptx64-nvidia-cuda"
define void @exempt(ptr %p) disable_sanitizer_instrumentation {
  store i32 1, ptr %p
  %v = atomicrmw add ptr %p, i32 1 syncscope("device") monotonic
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  ret void
}
define void @listed(ptr %p) {
  %v = load i32, ptr %p
  call void asm sideeffect "st.u32 [$0], 1;", "l"(ptr %p)
  call void asm sideeffect "st.release.cta.u32 [$0], 1;", "l"(ptr %p)
  ret void
}
