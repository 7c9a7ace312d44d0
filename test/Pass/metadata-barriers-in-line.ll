; Intent: a barrier of the block asks by its own reduction whether the runtime has to know of it,
; unless threads may meet there by a barrier that cannot be replaced.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | FileCheck %s
; RUN: sed 's/;ASM//' %s | %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S \
; RUN:   | FileCheck %s --check-prefix=MIXED

target triple = "nvptx64-nvidia-cuda"

; Both loads behind the barrier are made before the first of their cells is looked at.
; CHECK-LABEL: define ptx_kernel void @k(
; CHECK:       call {{.*}} @__crsan_md_enter(i32 4, i32 {{.*}})
; CHECK:       call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1
; CHECK-NOT:   @__crsan_md_block_arrive
; CHECK-DAG:   call void @__crsan_md_block_agree(ptr null, i32 {{.*}})
; CHECK-DAG:   st.global.v2.u32 {{.*}} bar.warp.sync
; CHECK:       load i32, ptr addrspace(1) %p
; CHECK-NEXT:  load i32, ptr addrspace(1) %q
; CHECK-COUNT-2: ld.global.v2.u64
; CHECK:       ret void

; MIXED-LABEL: define ptx_kernel void @k(
; MIXED:       call void @__crsan_md_block_arrive(ptr null, i32 {{.*}})
; MIXED-NEXT:  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; MIXED-NEXT:  call void @__crsan_md_block_depart(ptr null, i32 {{.*}})
define ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %r) {
  %q = getelementptr i32, ptr addrspace(1) %p, i64 1000
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load i32, ptr addrspace(1) %p
  %b = load i32, ptr addrspace(1) %q
  %s = add i32 %a, %b
  store i32 %s, ptr addrspace(1) %r
;ASM  call void asm sideeffect "bar.sync 0;", "~{memory}"()
  ret void
}
