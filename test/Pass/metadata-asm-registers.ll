; Intent: a register of inline PTX stands for what it was given, until the statement changes it or an inner block hides it.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; A register that an inner block declares is another one.
; CHECK:      function scopes
; CHECK-NEXT:   called
; CHECK-NEXT:   range(store 0 global, %p, %a != 0 ? 4 : 0)
; CHECK-NEXT:   asm { .reg .pred p; setp.ne.b32 p, $1, 0; { .reg .pred p; .reg .b32 t; setp.ne.b32 p, $2, 0; selp.b32 t, 1, 0, p; } @p st.global.u32 [$0], $3; }
; CHECK-NEXT:   ret
define void @scopes(ptr addrspace(1) %p, i32 %a, i32 %b, i32 %v) {
  call void asm sideeffect "{ .reg .pred p; setp.ne.b32 p, $1, 0; { .reg .pred p; .reg .b32 t; setp.ne.b32 p, $2, 0; selp.b32 t, 1, 0, p; } @p st.global.u32 [$0], $3; }", "l,r,r,r,~{memory}"(ptr addrspace(1) %p, i32 %a, i32 %b, i32 %v)
  ret void
}

; An address, or a condition, that the statement has changed is not known.
; CHECK:      function changed
; CHECK-NEXT:   called
; CHECK-NEXT:   asm { add.s64 $0, $0, 4; st.global.u32 [$0], $1; }
; CHECK-NEXT:   ret
define void @changed(ptr addrspace(1) %p, i32 %v) {
  call void asm sideeffect "{ add.s64 $0, $0, 4; st.global.u32 [$0], $1; }", "l,r,~{memory}"(ptr addrspace(1) %p, i32 %v)
  ret void
}

; CHECK:      function condition
; CHECK-NEXT:   called
; CHECK-NEXT:   asm { .reg .pred p; and.b32 $2, $2, 1; setp.ne.b32 p, $2, 0; @p st.global.u32 [$0], $1; }
; CHECK-NEXT:   ret
define void @condition(ptr addrspace(1) %p, i32 %v, i32 %c) {
  call void asm sideeffect "{ .reg .pred p; and.b32 $2, $2, 1; setp.ne.b32 p, $2, 0; @p st.global.u32 [$0], $1; }", "l,r,r,~{memory}"(ptr addrspace(1) %p, i32 %v, i32 %c)
  ret void
}

; CHECK:      function before
; CHECK-NEXT:   called
; CHECK-NEXT:   access(store 4 global, %p)
; CHECK-NEXT:   asm { st.global.u32 [$0], $1; add.s64 $0, $0, 4; }
; CHECK-NEXT:   ret
define void @before(ptr addrspace(1) %p, i32 %v) {
  call void asm sideeffect "{ st.global.u32 [$0], $1; add.s64 $0, $0, 4; }", "l,r,~{memory}"(ptr addrspace(1) %p, i32 %v)
  ret void
}
