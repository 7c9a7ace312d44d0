; Intent: each mode adds its own calls, and hybrid both, of which neither cuts the other's windows.
; DEFINE: %{run} = %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s
; RUN: %{run} -o %t.collider
; RUN: %{run} -crsan-mode=metadata -o %t.metadata
; RUN: %{run} -crsan-mode=hybrid -o %t.hybrid
; RUN: FileCheck %s --input-file=%t.collider --check-prefix=COLLIDER
; RUN: FileCheck %s --input-file=%t.metadata --check-prefix=METADATA
; RUN: FileCheck %s --input-file=%t.hybrid --check-prefix=HYBRID
; RUN: %python %S/Inputs/table-flags.py < %t.collider | FileCheck %s --check-prefix=COLLIDER-FLAGS --match-full-lines
; RUN: %python %S/Inputs/table-flags.py < %t.metadata | FileCheck %s --check-prefix=METADATA-FLAGS --match-full-lines
; RUN: %python %S/Inputs/table-flags.py < %t.hybrid | FileCheck %s --check-prefix=HYBRID-FLAGS --match-full-lines

; COLLIDER-FLAGS: flags HasCollider
; METADATA-FLAGS: flags NoShuffle HasMetadata
; HYBRID-FLAGS: flags HasCollider HasMetadata

target triple = "nvptx64-nvidia-cuda"

; COLLIDER-NOT: @__crsan_accesses
; COLLIDER-NOT: @__crsan_md_

; METADATA: @__crsan_accesses_{{[0-9a-f]+}} = addrspace(1) global [8 x i64]
; METADATA-LABEL: define ptx_kernel void @k(
; METADATA: call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; METADATA-NOT: @__crsan_check
; METADATA: store i32 %b
; METADATA: call void @__crsan_md_check_write(
; METADATA: store i32 2
; METADATA: call void @__crsan_md_check_write(

; HYBRID-LABEL: define ptx_kernel void @k(
; HYBRID: call i32 @__crsan_block_index(
; HYBRID: call i32 @__crsan_check({{.*}}, i32 2)
; HYBRID: call void @__crsan_md_check_write(
; HYBRID: call void @__crsan_md_check_write(
; HYBRID: ret void
define ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i32 %b, ptr addrspace(1) %p
  store i32 2, ptr addrspace(1) %q
  ret void
}
