; Intent: a kernel says (abi::EnterTellsHost, 32 among its flags) if code of its unit may synchronise with the host: by a
; strong access or a fence of system scope, or in a function of another unit. Device scope and shared memory do not
; reach the host.
; DEFINE: %{run} = %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S
; RUN: split-file %s %t
; RUN: cat %t/head.ll %t/weak.ll > %t/1.ll && %{run} %t/1.ll | FileCheck %s -DFLAGS=0
; RUN: cat %t/head.ll %t/device.ll > %t/2.ll && %{run} %t/2.ll | FileCheck %s -DFLAGS=8
; RUN: cat %t/head.ll %t/shared.ll > %t/3.ll && %{run} %t/3.ll | FileCheck %s -DFLAGS=16
; RUN: cat %t/head.ll %t/volatile.ll > %t/4.ll && %{run} %t/4.ll | FileCheck %s -DFLAGS=56
; RUN: cat %t/head.ll %t/fence.ll > %t/5.ll && %{run} %t/5.ll | FileCheck %s -DFLAGS=32
; RUN: cat %t/head.ll %t/update.ll > %t/6.ll && %{run} %t/6.ll | FileCheck %s -DFLAGS=32
; RUN: cat %t/head.ll %t/exempt.ll > %t/7.ll && %{run} %t/7.ll | FileCheck %s -DFLAGS=32
; RUN: cat %t/head.ll %t/elsewhere.ll > %t/8.ll && %{run} %t/8.ll | FileCheck %s -DFLAGS=60

; CHECK: call {{.*}} @__crsan_md_enter(i32 [[FLAGS]], i32

;--- head.ll
target triple = "nvptx64-nvidia-cuda"
@Shared = internal addrspace(3) global i32 undef
define ptx_kernel void @k(ptr %p) {
  store i32 1, ptr %p
  ret void
}

;--- weak.ll
define void @f(ptr %p) {
  store i32 1, ptr %p
  ret void
}

;--- device.ll
define i32 @f(ptr %p) {
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"()
  %v = call i32 asm sideeffect "atom.acq_rel.gpu.add.u32 $0, [$1], 1;", "=r,l,~{memory}"(ptr %p)
  ret i32 %v
}

;--- shared.ll
define i32 @f() {
  %v = load volatile i32, ptr addrspace(3) @Shared
  ret i32 %v
}

;--- volatile.ll
define i32 @f(ptr %p) {
  %v = load volatile i32, ptr %p
  ret i32 %v
}

;--- fence.ll
define void @f() {
  call void asm sideeffect "fence.acq_rel.sys;", "~{memory}"()
  ret void
}

;--- update.ll
define void @f(ptr %p) {
  call void asm sideeffect "red.release.sys.global.add.u32 [$0], 1;", "l,~{memory}"(ptr %p)
  ret void
}

;--- exempt.ll
define void @f(ptr %p) disable_sanitizer_instrumentation {
  store volatile i32 1, ptr %p
  ret void
}

;--- elsewhere.ll
declare void @g()
define void @f() {
  call void @g()
  ret void
}
