; Intent: the accesses of inline PTX are announced like those of C++: by the address operand,
; with the space, the order and the scope that are written.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function weak
; CHECK-NEXT:   called
; CHECK-NEXT:   access(load 16 global, %p+16)
; CHECK-NEXT:   asm ld.global.ca.v4.u32 {$0, $1, $2, $3}, [$4+16];
; CHECK-NEXT:   access(store 2 shared, %s)
; CHECK-NEXT:   asm st.shared.u16 [$0], $1;
; CHECK-NEXT:   access(store 8 generic, %a+-8)
; CHECK-NEXT:   asm st.u64 [$0+-8], $1;
; CHECK-NEXT:   asm st.local.u32 [$0], 0;
; CHECK-NEXT:   ret
define void @weak(ptr %p, i32 %s, i64 %a) {
  %v = call {i32, i32, i32, i32} asm sideeffect "ld.global.ca.v4.u32 {$0, $1, $2, $3}, [$4+16];", "=r,=r,=r,=r,l"(ptr %p)
  call void asm sideeffect "st.shared.u16 [$0], $1;", "r,h"(i32 %s, i16 7)
  call void asm sideeffect "st.u64 [$0+-8], $1;", "l,l,~{memory}"(i64 %a, i64 7)
  call void asm sideeffect "st.local.u32 [$0], 0;", "l"(i64 %a)
  ret void
}

; CHECK:      function strong
; CHECK-NEXT:   called
; CHECK-NEXT:   strong(load 4 generic device acquire, %p)
; CHECK-NEXT:   asm ld.acquire.gpu.u32 $0, [$1];
; CHECK-NEXT:   strong_done(load 4 generic device acquire, %p, 0)
; CHECK-NEXT:   strong(store 4 global block release, %p)
; CHECK-NEXT:   asm st.release.cta.global.u32 [$0], 1;
; CHECK-NEXT:   strong(load 8 generic system relaxed, %p)
; CHECK-NEXT:   asm ld.volatile.u64 $0, [$1];
; CHECK-NEXT:   strong_done(load 8 generic system relaxed, %p, 0)
; CHECK-NEXT:   strong(update 4 generic device relaxed atomic, %p)
; CHECK-NEXT:   asm atom.add.u32 $0, [$1], 1;
; CHECK-NEXT:   strong_done(update 4 generic device relaxed atomic, %p, 0)
; CHECK-NEXT:   strong(update 4 global system acq_rel atomic, %p)
; CHECK-NEXT:   asm red.acq_rel.sys.global.add.u32 [$0], 1;
; CHECK-NEXT:   strong_done(update 4 global system acq_rel atomic, %p, 0)
; CHECK-NEXT:   strong(load 4 cluster cluster relaxed, %s)
; CHECK-NEXT:   asm ld.relaxed.cluster.shared::cluster.u32 $0, [$1];
; CHECK-NEXT:   strong_done(load 4 cluster cluster relaxed, %s, 0)
; CHECK-NEXT:   ret
define void @strong(ptr %p, i32 %s) {
  %a = call i32 asm sideeffect "ld.acquire.gpu.u32 $0, [$1];", "=r,l,~{memory}"(ptr %p)
  call void asm sideeffect "st.release.cta.global.u32 [$0], 1;", "l,~{memory}"(ptr %p)
  %b = call i64 asm sideeffect "ld.volatile.u64 $0, [$1];", "=l,l,~{memory}"(ptr %p)
  %c = call i32 asm sideeffect "atom.add.u32 $0, [$1], 1;", "=r,l,~{memory}"(ptr %p)
  call void asm sideeffect "red.acq_rel.sys.global.add.u32 [$0], 1;", "l,~{memory}"(ptr %p)
  %d = call i32 asm sideeffect "ld.relaxed.cluster.shared::cluster.u32 $0, [$1];", "=r,r"(i32 %s)
  ret void
}

; Whether the exchange took place, from what it found.
; CHECK:      function swaps
; CHECK-NEXT:   called
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   swap_reader(update 4 generic device acquire atomic, %p)
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   strong(update 4 generic device acquire atomic, %p)
; CHECK-NEXT:   asm atom.acquire.gpu.cas.b32 $0, [$1], $2, $3;
; CHECK-NEXT:   strong_done(update 4 generic device acquire atomic, %p, 1 + (%a == %e))
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   swap(update 4 generic device acquire atomic, %p)
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   swap_reader(update 4 generic device relaxed atomic, %p)
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   strong(update 4 generic device relaxed atomic, %p)
; CHECK-NEXT:   asm {atom.cas.b32 $0, [$2], $3, $4; mov.u32 $1, 7;}
; CHECK-NEXT:   strong_done(update 4 generic device relaxed atomic, %p, 1 + (%b.0 == %e))
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   swap(update 4 generic device relaxed atomic, %p)
; CHECK-NEXT:   {{[0-9]+}}:
; CHECK-NEXT:   ret
define void @swaps(ptr %p, i32 %e) {
  %a = call i32 asm sideeffect "atom.acquire.gpu.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,~{memory}"(ptr %p, i32 %e, i32 1)
  %b = call {i32, i32} asm sideeffect "{atom.cas.b32 $0, [$2], $3, $4; mov.u32 $1, 7;}", "=r,=r,l,r,r,~{memory}"(ptr %p, i32 %e, i32 1)
  ret void
}

; An access is one whatever the statement declares.
; CHECK:      function undeclared
; CHECK-NEXT:   called
; CHECK-NEXT:   access(load 4 global, %p)
; CHECK-NEXT:   asm ld.global.u32 $0, [$1];
; CHECK-NEXT:   ret
define void @undeclared(ptr %p) {
  %a = call i32 asm "ld.global.u32 $0, [$1];", "=r,l"(ptr %p) memory(none)
  ret void
}
