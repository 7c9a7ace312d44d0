; Intent: each __syncthreads() of the source has a site, copies of it have one together; the runtime is not told
; the place of a barrier whose line is not known, that is known by number only, or that all threads surely meet at.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | FileCheck %s
; RUN: sed 's/;ASM//' %s | %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S \
; RUN:   | FileCheck %s --check-prefix=MIXED

target triple = "nvptx64-nvidia-cuda"

; The inline checks write an entry in front of the barrier, and read it behind.
; CHECK-LABEL: define ptx_kernel void @parts(
; CHECK:       st.global.u64
; CHECK:       call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0
; CHECK:       call void @__crsan_md_block_agree(ptr addrspacecast ({{.*}}), i32
; CHECK:       ld.global.u64
; CHECK:       call void @__crsan_md_diverged(ptr addrspacecast ({{.*}}), i64
; CHECK:       ret void

; MIXED-LABEL: define ptx_kernel void @parts(
; MIXED:       call void @__crsan_md_block_arrive(ptr [[A:addrspacecast .*]], i32
; MIXED-NEXT:  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; MIXED-NEXT:  call void @__crsan_md_block_depart(ptr [[A]], i32
; MIXED:       call void @__crsan_md_block_arrive(ptr [[B:addrspacecast .*]], i32
; MIXED-NEXT:  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; MIXED:       call void @__crsan_md_block_arrive(ptr [[B]], i32
; MIXED-NEXT:  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; MIXED:       call void @__crsan_md_block_arrive(ptr null, i32
; MIXED-NEXT:  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; MIXED:       call void @__crsan_md_block_arrive(ptr null, i32
; MIXED-NEXT:  call void asm sideeffect "bar.sync 0;"
define ptx_kernel void @parts(ptr addrspace(1) %p) !dbg !5 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp ult i32 %t, 64
  br i1 %c, label %a, label %b
a:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !10
  br label %end
b:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !11
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !12
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !13
  br label %end
end:
;ASM  call void asm sideeffect "bar.sync 0;", "~{memory}"(), !dbg !10
  store i32 1, ptr addrspace(1) %p, !dbg !10
  ret void
}

; All threads come to the two barriers together.
; CHECK-LABEL: define ptx_kernel void @together(
; CHECK-NOT:   __crsan_md_diverged
; CHECK:       call void @__crsan_md_block_agree(ptr null, i32
; CHECK-NOT:   __crsan_md_diverged
; CHECK:       ret void
define ptx_kernel void @together(ptr addrspace(1) %p) !dbg !6 {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !20
  store i32 1, ptr addrspace(1) %p, !dbg !21
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !21
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "a.cu", directory: "/x")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 2, !"Dwarf Version", i32 2}
!4 = !DISubroutineType(types: !{})
!5 = distinct !DISubprogram(name: "parts", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!6 = distinct !DISubprogram(name: "together", file: !1, line: 30, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!7 = distinct !DISubprogram(name: "f", file: !1, line: 20, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!10 = !DILocation(line: 3, column: 5, scope: !5)
!11 = !DILocation(line: 21, column: 3, scope: !7, inlinedAt: !14)
!12 = !DILocation(line: 21, column: 3, scope: !7, inlinedAt: !15)
!13 = !DILocation(line: 0, scope: !5)
!14 = distinct !DILocation(line: 5, column: 5, scope: !5)
!15 = distinct !DILocation(line: 5, column: 5, scope: !5)
!20 = !DILocation(line: 31, column: 3, scope: !6)
!21 = !DILocation(line: 32, column: 3, scope: !6)
