; Intent: inline PTX and matrix instructions get the effects that they have, whatever is declared, before anything
; optimises: nothing is deleted, merged across a barrier, or moved to where lanes are missing.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark -verify-each -S %s | FileCheck %s --check-prefixes=CHECK,MARKED
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='crsan-mark,default<O2>' -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; An atomic of which nobody wants the result.
; CHECK-LABEL: @atomic(
; CHECK: call { float, float } asm sideeffect "atom.add.v2.f32
define ptx_kernel void @atomic(ptr %p) {
  %a = call {float, float} asm "atom.add.v2.f32 {$0, $1}, [$2], {$3, $4};", "=f,=f,l,f,f"(ptr %p, float 1.0, float 2.0) convergent memory(none)
  ret void
}

; Two loads with a barrier in between.
; CHECK-LABEL: @loads(
; CHECK: asm sideeffect "ld.global.cg.b16
; CHECK: barrier
; CHECK: asm sideeffect "ld.global.cg.b16
define ptx_kernel void @loads(ptr %p, ptr %q) {
  %a = call i16 asm "ld.global.cg.b16 $0, [$1];", "=h,l"(ptr %p) convergent memory(none)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %b = call i16 asm "ld.global.cg.b16 $0, [$1];", "=h,l"(ptr %p) convergent memory(none)
  %c = add i16 %a, %b
  store i16 %c, ptr %q
  ret void
}

; The clock, an election, and what is not known.
; CHECK-LABEL: @others(
; CHECK: asm sideeffect "mov.u32 $0, %clock;"
; CHECK: asm sideeffect "mov.u32 $0, %clock;"
; CHECK: asm sideeffect "{{.*}}elect.sync
; CHECK: asm sideeffect "frobnicate
define ptx_kernel void @others(ptr %q) {
  %a = call i32 asm "mov.u32 $0, %clock;", "=r"() convergent memory(none)
  %b = call i32 asm "mov.u32 $0, %clock;", "=r"() convergent memory(none)
  %c = call i32 asm "{ .reg .pred p; elect.sync $0|p, -1; }", "=r"() convergent memory(none)
  %d = call i32 asm "frobnicate $0;", "=r"() convergent memory(none)
  %e = sub i32 %b, %a
  store i32 %e, ptr %q
  ret void
}

; What has no effects keeps none.
; CHECK-LABEL: @harmless(
; MARKED: asm "shf.l.wrap.b32
; MARKED: asm "mov.u32 $0, %smid;"
; CHECK: ret void
define ptx_kernel void @harmless(i32 %x) {
  %a = call i32 asm "shf.l.wrap.b32 $0, $1, $1, 3;", "=r,r"(i32 %x) convergent memory(none)
  %b = call i32 asm "mov.u32 $0, %smid;", "=r"() convergent memory(none)
  ret void
}

; The result is used by some lanes only; the instruction is all lanes'.
; CHECK-LABEL: @matrix(
; CHECK: call {{.*}} @llvm.nvvm.mma.m16n8k8.row.col.tf32({{.*}}) #[[CONVERGENT:[0-9]+]]
; CHECK: br i1
define ptx_kernel void @matrix(i32 %a, float %c, i1 %p, ptr %q) {
  %m = call {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %a, i32 %a, i32 %a, i32 %a, i32 %a, i32 %a, float %c, float %c, float %c, float %c)
  br i1 %p, label %then, label %end
then:
  %e = extractvalue {float, float, float, float} %m, 0
  store float %e, ptr %q
  br label %end
end:
  ret void
}
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
; CHECK: attributes #[[CONVERGENT]] = { convergent }
