; Intent: a window goes on across assembly whose every instruction is known to order nothing.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @registers(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @registers(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %s = call i32 asm sideeffect "mov.u32 $0, %laneid;", "=r,~{memory}"() convergent
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @nothing(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @nothing(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  call void asm sideeffect "", "~{memory}"() convergent
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @block(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @block(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %s = call i32 asm sideeffect "{ .reg .u32 t; // a comment\0A mov.u32 t, %clock; add.u32 $0, t, $1 }", "=r,r"(i32 %i)
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @time(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @time(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %s = call i64 asm sideeffect "mov.u64 $0, %globaltimer;", "=l,~{memory}"()
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @weak_load(
; CHECK: @__crsan_check({{.*}}, i32 3)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @weak_load(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  %s = call i32 asm sideeffect "ld.global.nc.L1::no_allocate.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(1) %q)
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @weak_store(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @weak_store(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  call void asm sideeffect "@p st.global.b32 [$0+4], $1;", "l,r,~{memory}"(ptr addrspace(1) %q, i32 %i)
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @copy(
; CHECK: @__crsan_check({{.*}}, i32 4)
; CHECK: @__crsan_watch_copy(
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @copy(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %s) {
  store i32 1, ptr addrspace(1) %p
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 4;", "r,l"(i32 %s, ptr addrspace(1) %p)
  store i32 2, ptr addrspace(1) %q
  ret void
}

; CHECK-LABEL: define ptx_kernel void @prefetch(
; CHECK: @__crsan_check({{.*}}, i32 2)
; CHECK-NOT: @__crsan_check
; CHECK: ret void
define ptx_kernel void @prefetch(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {
  store i32 1, ptr addrspace(1) %p
  call void asm sideeffect "prefetch.global.L2 [$0];", "l"(ptr addrspace(1) %q)
  store i32 2, ptr addrspace(1) %q
  ret void
}
