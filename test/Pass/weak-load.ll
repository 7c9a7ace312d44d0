; Intent: a weak load is read, paused over and read again; strong loads are not.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s --check-prefix=IR

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: kernel weak
; CHECK-NEXT: check
; CHECK-NEXT: load size 4 offset 0 space 1{{$}}
; IR-LABEL: define ptx_kernel void @weak(
; IR: call i32 @__crsan_check({{.*}}, i32 1)
; IR: %v = load i32, ptr addrspace(1) %p
define ptx_kernel void @weak(ptr addrspace(1) %p) {
  %v = load i32, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: kernel strong
; CHECK-NOT: {{.}}
; IR-LABEL: define ptx_kernel void @strong(
; IR-NOT: __crsan
; IR: ret void
define ptx_kernel void @strong(ptr addrspace(1) %p) {
  %a = load atomic i32, ptr addrspace(1) %p monotonic, align 4
  %b = load atomic i32, ptr addrspace(1) %p syncscope("device") acquire, align 4
  %c = load volatile i32, ptr addrspace(1) %p
  ret void
}

; The runtime reads weakly, waits, and reads strongly, in every width. It does not sleep.
; IR-LABEL: define internal i32 @__crsan_check(
; IR-NOT: nanosleep
; IR-DAG: asm sideeffect "ld.u8 $0, [$1];"
; IR-DAG: asm sideeffect "ld.u16 $0, [$1];"
; IR-DAG: asm sideeffect "ld.u32 $0, [$1];"
; IR-DAG: asm sideeffect "ld.u64 $0, [$1];"
; IR: asm sideeffect "ld.relaxed.sys.u32 $0, [$1];"
; IR-NOT: asm sideeffect "ld.u
; IR: asm sideeffect "ld.relaxed.sys.u64 $0, [$1];"
; IR-NOT: asm sideeffect "ld.u
; IR: asm sideeffect "ld.relaxed.sys.u16 $0, [$1];"
; IR-NOT: asm sideeffect "ld.u
; IR: asm sideeffect "ld.relaxed.sys.u8 $0, [$1];"
; IR-NOT: asm sideeffect "ld.u
; IR: call void @__crsan_race(
