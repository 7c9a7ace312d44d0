; Intent: values are compared as integers of their bits: a NaN is equal to itself.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @float(
; CHECK: load atomic i32, ptr addrspace(1)
; CHECK-NOT: fcmp
; CHECK: icmp ne i32
; CHECK-NOT: fcmp
; CHECK: ret void
define ptx_kernel void @float(ptr addrspace(1) %p) {
  %v = load float, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @others(
; CHECK: @__crsan_pause({{.*}}, i32 6)
; CHECK: load atomic i8, ptr addrspace(1) {{%.*}} monotonic, align 1
; CHECK: load atomic i8, ptr addrspace(1) {{%.*}} monotonic, align 1
; CHECK: load atomic i16, ptr addrspace(1) {{%.*}} monotonic, align 2
; CHECK: load atomic i16, ptr addrspace(1) {{%.*}} monotonic, align 2
; CHECK: load atomic i64, ptr addrspace(1) {{%.*}} monotonic, align 8
; CHECK: load atomic i64, ptr addrspace(1) {{%.*}} monotonic, align 8
; CHECK: ret void
define ptx_kernel void @others(ptr addrspace(1) %a, ptr addrspace(1) %b,
                               ptr addrspace(1) %c, ptr addrspace(1) %d,
                               ptr addrspace(1) %e, ptr addrspace(1) %f) {
  %va = load i1, ptr addrspace(1) %a
  %vb = load i8, ptr addrspace(1) %b
  %vc = load i16, ptr addrspace(1) %c
  %vd = load half, ptr addrspace(1) %d
  %ve = load double, ptr addrspace(1) %e
  %vf = load ptr, ptr addrspace(1) %f
  ret void
}
