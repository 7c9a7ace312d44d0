; Intent: a kernel says so, by its lowest flag, if its threads may end, or start grids, without a word.
; DEFINE: %{run} = %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S
; RUN: split-file %s %t
; RUN: cat %t/head.ll %t/launch.ll > %t/1.ll && %{run} %t/1.ll | FileCheck %s --check-prefix=LEAKY
; RUN: cat %t/head.ll %t/guarded.ll > %t/2.ll && %{run} %t/2.ll | FileCheck %s --check-prefix=LEAKY
; RUN: cat %t/head.ll %t/unparsed.ll > %t/3.ll && %{run} %t/3.ll | FileCheck %s --check-prefix=LEAKY
; RUN: cat %t/head.ll %t/plain.ll > %t/4.ll && %{run} %t/4.ll | FileCheck %s --check-prefix=TIGHT

; Assembly that nobody understands may synchronise, too.
; LEAKY: call {{.*}} @__crsan_md_enter(i32 {{[0-9]*[13579]}}, i32 {{.*}})
; TIGHT: call {{.*}} @__crsan_md_enter(i32 {{[0-9]*[02468]}}, i32 {{.*}})
; TIGHT: define void @f()
; TIGHT: call void @__crsan_md_leave(i32 {{[0-9]*[02468]}}, i32 {{.*}})
; TIGHT-NEXT: asm sideeffect "exit;"

;--- head.ll
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k() {
  ret void
}

;--- launch.ll
declare i32 @cudaLaunchDeviceV2(ptr, ptr)

;--- guarded.ll
define void @f() {
  call void asm sideeffect "@p exit;", ""()
  ret void
}

;--- unparsed.ll
define void @f() {
  call void asm sideeffect "1 2 exit", ""()
  ret void
}

;--- plain.ll
define void @f() {
  call void asm sideeffect "exit;", ""()
  ret void
}
