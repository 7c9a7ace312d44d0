; Intent: addresses are passed on as generic ones, of which the runtime asks whether they are
; local before it reads.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s --check-prefix=IR

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: kernel generic
; CHECK: load {{.*}} space 0{{$}}
; IR-LABEL: define ptx_kernel void @generic(
; IR: [[ALL:%.*]] = alloca [24 x i64]
; IR: [[AT:%.*]] = ptrtoint ptr %p to i64
; IR: [[SLOT:%.*]] = getelementptr inbounds i64, ptr [[ALL]], i64 0
; IR: store i64 [[AT]], ptr [[SLOT]]
; IR: call i32 @__crsan_check({{.*}}, ptr [[ALL]], i32 0, i32 1)
define ptx_kernel void @generic(ptr %p) {
  %v = load i32, ptr %p
  ret void
}

; CHECK-LABEL: kernel global
; CHECK: load {{.*}} space 1{{$}}
; IR-LABEL: define ptx_kernel void @global(
; IR: [[CAST:%[0-9]+]] = addrspacecast ptr addrspace(1) %p to ptr
; IR: ptrtoint ptr [[CAST]] to i64
; IR: call i32 @__crsan_check(
define ptx_kernel void @global(ptr addrspace(1) %p) {
  %v = load i32, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: kernel cast
; CHECK: load {{.*}} space 0{{$}}
; IR-LABEL: define ptx_kernel void @cast(
; IR: [[CAST:%[0-9]+]] = addrspacecast ptr addrspace(3) %s to ptr
; IR: ptrtoint ptr [[CAST]] to i64
; IR: call i32 @__crsan_check(
define ptx_kernel void @cast(ptr addrspace(3) %s) {
  %p = addrspacecast ptr addrspace(3) %s to ptr
  %v = load i32, ptr %p
  ret void
}

; Before both reads.
; IR-LABEL: define internal i32 @__crsan_check(
; IR: asm "{{.*}}isspacep.local p, $1;
; IR: asm "{{.*}}isspacep.const p, $1;
; IR: asm "{{.*}}isspacep.param p, $1;
; IR: asm sideeffect "ld.u32 $0, [$1];"
; IR: asm sideeffect "ld.relaxed.sys.u32 $0, [$1];"
