; Intent: a compare-and-swap takes a lock if its thread puts back, in any case, what it has
; compared with.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: function spins
; CHECK:         strong(update 4 generic device acquire atomic lock, %l)
define void @spins(ptr %l) {
entry:
  br label %try
try:
  %r = cmpxchg ptr %l, i32 0, i32 1 syncscope("device") acquire monotonic
  %ok = extractvalue { i32, i1 } %r, 1
  br i1 %ok, label %held, label %try
held:
  %old = atomicrmw xchg ptr %l, i32 0 syncscope("device") release
  ret void
}

; By the first lane for all, whose condition is asked twice.
; CHECK-LABEL: function leads
; CHECK:         strong(update 4 generic device acquire atomic lock, %l)
define void @leads(ptr %l, i32 %lane) {
entry:
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %try, label %all
try:
  %r = cmpxchg ptr %l, i32 0, i32 1 syncscope("device") acquire monotonic
  %found = extractvalue { i32, i1 } %r, 0
  %taken = icmp ne i32 %found, 0
  br i1 %taken, label %try, label %all
all:
  br i1 %first, label %give, label %end
give:
  store atomic i32 0, ptr %l syncscope("device") release, align 4
  br label %end
end:
  ret void
}

; It may end without giving back.
; CHECK-LABEL: function keeps
; CHECK-NOT:     lock
define void @keeps(ptr %l, i1 %c) {
  %r = cmpxchg ptr %l, i32 0, i32 1 syncscope("device") acquire monotonic
  %ok = extractvalue { i32, i1 } %r, 1
  br i1 %ok, label %held, label %end
held:
  br i1 %c, label %give, label %end
give:
  store atomic i32 0, ptr %l syncscope("device") release, align 4
  br label %end
end:
  ret void
}

; CHECK-LABEL: function other_place
; CHECK-NOT:     lock
define void @other_place(ptr %l) {
  %r = cmpxchg ptr %l, i32 0, i32 1 syncscope("device") acquire monotonic
  %next = getelementptr i32, ptr %l, i64 1
  store atomic i32 0, ptr %next syncscope("device") release, align 4
  ret void
}

; CHECK-LABEL: function other_value
; CHECK-NOT:     lock
define void @other_value(ptr %l) {
  %r = cmpxchg ptr %l, i32 0, i32 1 syncscope("device") acquire monotonic
  store atomic i32 2, ptr %l syncscope("device") release, align 4
  ret void
}

; As a deque takes an element, once it has seen where that is.
; CHECK-LABEL: function advances
; CHECK-NOT:     lock
define void @advances(ptr %top) {
  %t = load atomic i32, ptr %top syncscope("device") acquire, align 4
  %next = add i32 %t, 1
  %r = cmpxchg ptr %top, i32 %t, i32 %next syncscope("device") seq_cst monotonic
  store atomic i32 %t, ptr %top syncscope("device") release, align 4
  ret void
}

; CHECK-LABEL: function assembly
; CHECK:         strong(update 4 global device acquire atomic lock, %l)
define void @assembly(ptr addrspace(1) %l) {
  br label %try
try:
  %found = call i32 asm sideeffect "atom.acquire.gpu.global.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,~{memory}"(ptr addrspace(1) %l, i32 0, i32 1)
  %ok = icmp eq i32 %found, 0
  br i1 %ok, label %held, label %try
held:
  call void asm sideeffect "st.release.gpu.global.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %l, i32 0)
  ret void
}
