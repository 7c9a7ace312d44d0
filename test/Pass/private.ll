; Intent: local, constant and parameter memory is not checked; global memory is.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

%pair = type { i32, i32 }

; CHECK-LABEL: define ptx_kernel void @private(
; CHECK-NOT: __crsan
; CHECK: ret void
define ptx_kernel void @private(ptr byval(%pair) %param, ptr addrspace(4) %c,
                                ptr addrspace(5) %l, i32 %i) {
  %a = alloca [4 x i32]
  %at = getelementptr i32, ptr %a, i32 %i
  store i32 1, ptr %at
  %field = getelementptr i8, ptr %param, i64 4
  %v0 = load i32, ptr %field
  %v1 = load i32, ptr addrspace(4) %c
  %v2 = load i32, ptr addrspace(5) %l
  %v3 = load i32, ptr addrspace(1) @constant
  %v4 = load i32, ptr addrspacecast (ptr addrspace(4) @table to ptr)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @public(
; CHECK: @__crsan_check({{.*}}, i32 3)
; CHECK: ret void
define ptx_kernel void @public(ptr %param, ptr addrspace(3) %s) {
  %v0 = load i32, ptr %param
  %v1 = load i32, ptr addrspace(3) %s
  %v2 = load i32, ptr addrspace(1) @variable
  ret void
}

@constant = addrspace(1) constant i32 5
@variable = addrspace(1) global i32 5
@table = addrspace(4) global i32 0
