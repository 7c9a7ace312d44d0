; Intent: of a statement with several instructions, what cannot be told of in its place is
; neither checked nor forgotten: it publishes or collects. What it may acquire before it
; releases is learned ahead.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function weak_first
; CHECK-NEXT:   called
; CHECK-NEXT:   access(store 4 generic, %p)
; CHECK-NEXT:   asm st.u32 [$0], 1; fence.acq_rel.gpu;
; CHECK-NEXT:   fence(2)
; CHECK-NEXT:   ret
define void @weak_first(ptr %p) {
  call void asm sideeffect "st.u32 [$0], 1; fence.acq_rel.gpu;", "l"(ptr %p)
  ret void
}

; CHECK:      function fence_first
; CHECK-NEXT:   called
; CHECK-NEXT:   fence
; CHECK-NEXT:   fence(2)
; CHECK-NEXT:   publish(%p, 2)
; CHECK-NEXT:   asm fence.acq_rel.gpu; st.relaxed.gpu.u32 [$0], 1;
; CHECK-NEXT:   fence(2)
; CHECK-NEXT:   ret
define void @fence_first(ptr %p) {
  call void asm sideeffect "fence.acq_rel.gpu; st.relaxed.gpu.u32 [$0], 1;", "l"(ptr %p)
  ret void
}

; CHECK:      function barrier_first
; CHECK-NEXT:   called
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   asm bar.sync 0; ld.u32 $0, [$1];
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   ret
define void @barrier_first(ptr %p) {
  %v = call i32 asm sideeffect "bar.sync 0; ld.u32 $0, [$1];", "=r,l"(ptr %p)
  ret void
}

; CHECK:      function load_then_fence
; CHECK-NEXT:   called
; CHECK-NEXT:   strong(load 4 generic device relaxed, %p)
; CHECK-NEXT:   asm { ld.relaxed.gpu.u32 $0, [$1]; { fence.acq_rel.gpu; } }
; CHECK-NEXT:   strong_done(load 4 generic device relaxed, %p, 0)
; CHECK-NEXT:   fence(2)
; CHECK-NEXT:   ret
define void @load_then_fence(ptr %p) {
  %v = call i32 asm sideeffect "{ ld.relaxed.gpu.u32 $0, [$1]; { fence.acq_rel.gpu; } }", "=r,l"(ptr %p)
  ret void
}

; CHECK:      function acquire_then_release
; CHECK-NEXT:   called
; CHECK-NEXT:   learn
; CHECK-NEXT:   strong(load 4 generic device acquire, %p)
; CHECK-NEXT:   publish(%q, 2)
; CHECK-NEXT:   asm ld.acquire.gpu.u32 $0, [$1]; st.release.gpu.u32 [$2], 1;
; CHECK-NEXT:   strong_done(load 4 generic device acquire, %p, 0)
; CHECK-NEXT:   learn
; CHECK-NEXT:   strong(load 4 generic device acquire, %p)
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   asm ld.acquire.gpu.u32 $0, [$1]; bar.sync 0;
; CHECK-NEXT:   strong_done(load 4 generic device acquire, %p, 0)
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   learn
; CHECK-NEXT:   publish(%q, 2)
; CHECK-NEXT:   asm {L: ld.acquire.gpu.u32 $0, [$1]; setp.eq.u32 p, $0, 0; @p bra L; st.release.gpu.u32 [$2], 1;}
; CHECK-NEXT:   collect(%p, 2)
; CHECK-NEXT:   ret
define void @acquire_then_release(ptr %p, ptr %q) {
  %v = call i32 asm sideeffect "ld.acquire.gpu.u32 $0, [$1]; st.release.gpu.u32 [$2], 1;", "=r,l,l"(ptr %p, ptr %q)
  %w = call i32 asm sideeffect "ld.acquire.gpu.u32 $0, [$1]; bar.sync 0;", "=r,l"(ptr %p)
  %x = call i32 asm sideeffect "{L: ld.acquire.gpu.u32 $0, [$1]; setp.eq.u32 p, $0, 0; @p bra L; st.release.gpu.u32 [$2], 1;}", "=r,l,l"(ptr %p, ptr %q)
  ret void
}

; The other way round, all is told where it is; a barrier is a release and an acquire.
; CHECK:      function release_then_acquire
; CHECK-NEXT:   called
; CHECK-NEXT:   strong(store 4 generic device release, %p)
; CHECK-NEXT:   asm st.release.gpu.u32 [$1], 1; ld.acquire.gpu.u32 $0, [$2];
; CHECK-NEXT:   collect(%q, 2)
; CHECK-NEXT:   learn
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   block_arrive(null)
; CHECK-NEXT:   asm bar.sync 0; bar.sync 0;
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   block_depart(null)
; CHECK-NEXT:   ret
define void @release_then_acquire(ptr %p, ptr %q) {
  %v = call i32 asm sideeffect "st.release.gpu.u32 [$1], 1; ld.acquire.gpu.u32 $0, [$2];", "=r,l,l"(ptr %p, ptr %q)
  call void asm sideeffect "bar.sync 0; bar.sync 0;", "~{memory}"()
  ret void
}

; What may not run at all is not checked, but may order.
; CHECK:      function guarded
; CHECK-NEXT:   called
; CHECK-NEXT:   asm @p st.u32 [$0], 1;
; CHECK-NEXT:   publish(%p, 2)
; CHECK-NEXT:   asm @p red.release.gpu.add.u32 [$0], 1;
; CHECK-NEXT:   collect(%p, 2)
; CHECK-NEXT:   asm @p fence.sc.sys;
; CHECK-NEXT:   fence(3)
; CHECK-NEXT:   ret
define void @guarded(ptr %p) {
  call void asm sideeffect "@p st.u32 [$0], 1;", "l"(ptr %p)
  call void asm sideeffect "@p red.release.gpu.add.u32 [$0], 1;", "l"(ptr %p)
  call void asm sideeffect "@p fence.sc.sys;", "l"(ptr %p)
  ret void
}

; Where the condition is an operand, nothing is accessed if it does not hold.
; CHECK:      function condition
; CHECK-NEXT:   called
; CHECK-NEXT:   range(load 0 global, %p, %c != 0 ? 8 : 0)
; CHECK-NEXT:   asm { .reg .pred p; setp.ne.b32 p, $3, 0; mov.b32 $0, 0; @p ld.global.v2.u32 {$0, $1}, [$2]; }
; CHECK-NEXT:   range(store 0 shared, %s, %c != 1 ? 4 : 0)
; CHECK-NEXT:   asm { .reg .pred p; setp.eq.u32 p, $1, 1; @!p st.shared.u32 [$0], 1; }
; CHECK-NEXT:   asm { .reg .pred p; setp.ne.b32 p, $1, 0; and.pred p, p, q; @p st.shared.u32 [$0], 1; }
; CHECK-NEXT:   ret
define void @condition(ptr %p, i32 %s, i32 %c) {
  %v = call {i32, i32} asm sideeffect "{ .reg .pred p; setp.ne.b32 p, $3, 0; mov.b32 $0, 0; @p ld.global.v2.u32 {$0, $1}, [$2]; }", "=r,=r,l,r"(ptr %p, i32 %c)
  call void asm sideeffect "{ .reg .pred p; setp.eq.u32 p, $1, 1; @!p st.shared.u32 [$0], 1; }", "r,r"(i32 %s, i32 %c)
  call void asm sideeffect "{ .reg .pred p; setp.ne.b32 p, $1, 0; and.pred p, p, q; @p st.shared.u32 [$0], 1; }", "r,r"(i32 %s, i32 %c)
  ret void
}

; CHECK:      function spin
; CHECK-NEXT:   called
; CHECK-NEXT:   asm {L: ld.acquire.gpu.u32 $0, [$1]; setp.eq.u32 p, $0, 0; @p bra L;}
; CHECK-NEXT:   collect(%p, 2)
; CHECK-NEXT:   ret
define void @spin(ptr %p) {
  %v = call i32 asm sideeffect "{L: ld.acquire.gpu.u32 $0, [$1]; setp.eq.u32 p, $0, 0; @p bra L;}", "=r,l"(ptr %p)
  ret void
}

; CHECK:      function address_of_output
; CHECK-NEXT:   called
; CHECK-NEXT:   unknown
; CHECK-NEXT:   asm {add.u64 $0, $2, 8; ld.acquire.gpu.u32 $1, [$0];}
; CHECK-NEXT:   unknown
; CHECK-NEXT:   ret
define void @address_of_output(ptr %p) {
  %v = call {i64, i32} asm sideeffect "{add.u64 $0, $2, 8; ld.acquire.gpu.u32 $1, [$0];}", "=l,=r,l"(ptr %p)
  ret void
}
