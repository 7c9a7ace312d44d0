; Intent: whatever accesses memory by other means than loads and stores is remarked with its
; reason and counted in the site table; what only orders, or fetches into a cache, is not.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan -pass-remarks-missed=cuda-race \
; RUN:   -S %s -o %t.collider 2>&1 | FileCheck %s --implicit-check-not=remark:
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan \
; RUN:   -pass-remarks-missed=cuda-race -S %s -o %t.metadata 2>&1 | FileCheck %s --implicit-check-not=remark:
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=hybrid -passes=crsan \
; RUN:   -pass-remarks-missed=cuda-race -S %s -o %t.hybrid 2>&1 | FileCheck %s --implicit-check-not=remark:
; RUN: %python %S/Inputs/table-counts.py %t.collider | FileCheck %s --check-prefix=COUNT
; RUN: %python %S/Inputs/table-counts.py %t.metadata | FileCheck %s --check-prefix=COUNT
; RUN: %python %S/Inputs/table-counts.py %t.hybrid | FileCheck %s --check-prefix=COUNT

; CHECK: remark: k.cu:2:1: access is not checked for races: this form of a matrix load or store is not supported
; CHECK: remark: k.cu:4:1: access is not checked for races: textures and surfaces are not supported
; CHECK: remark: k.cu:5:1: access is not checked for races: textures and surfaces are not supported
; CHECK: remark: k.cu:6:1: access is not checked for races: its kind, length or type is not supported
; CHECK: remark: k.cu:7:1: access is not checked for races: its kind, length or type is not supported
; CHECK: remark: k.cu:9:1: access is not checked for races: it is made in the background, by an asynchronous copy or matrix operation of a form that is not supported
; CHECK: remark: k.cu:10:1: instruction is not checked for races: CRSan does not know what memory it accesses
; CHECK: remark: k.cu:11:1: access is not checked for races: this form of a matrix load or store is not supported
; CHECK: remark: k.cu:12:1: access is not checked for races: textures and surfaces are not supported
; CHECK: remark: k.cu:14:1: instruction is not checked for races: CRSan does not know what memory it accesses
; CHECK: remark: k.cu:15:1: access is not checked for races: it is made in the background, by an asynchronous copy or matrix operation of a form that is not supported
; COUNT: unchecked 11 exempt 0
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) %g, ptr addrspace(3) %s, ptr %p, i64 %t, i1 %c) !dbg !4 {
  call void @llvm.nvvm.wmma.m16n16k16.store.d.row.stride.f32.p3(ptr addrspace(3) %s, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, i32 16), !dbg !11
  %m = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8.p3(ptr addrspace(3) %s), !dbg !12
  call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3) %s, i32 0), !dbg !13
  %x = call {float, float, float, float} @llvm.nvvm.tex.unified.1d.v4f32.s32(i64 %t, i32 0), !dbg !14
  call void @llvm.nvvm.sust.b.1d.i32.clamp(i64 %t, i32 0, i32 0), !dbg !15
  %u = call i32 @llvm.nvvm.ldu.global.i.i32.p1(ptr addrspace(1) %g, i32 4), !dbg !16
  call void @llvm.masked.store.v2i32.p1(<2 x i32> zeroinitializer, ptr addrspace(1) align 8 %g, <2 x i1> <i1 true, i1 false>), !dbg !17
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1) %g, ptr addrspace(3) %s, i32 16, i64 0, i1 false), !dbg !18
  call void @llvm.nvvm.st.bulk.shared.cta(ptr addrspace(3) %s, i64 16, i64 0), !dbg !19
  call void @llvm.nvvm.tensormap.replace.rank.p1(ptr addrspace(1) %g, i32 1), !dbg !20
  call void asm sideeffect "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [$0], {$1};", "r,r"(i32 0, i32 0), !dbg !21
  call void asm sideeffect "sust.b.1d.b32.trap [$0, {$1}], {$1};", "l,r"(i64 %t, i32 0), !dbg !22
  call void asm sideeffect "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [$0], $1, [$0];", "r,r"(i32 0, i32 0), !dbg !23
  call void asm sideeffect "multimem.red.relaxed.sys.global.add.u32 [$0], 1;", "l"(i64 0), !dbg !24
  call void asm sideeffect "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {$0}, $1, $1, $0, 0, p, 1, 1, 0, 0;", "r,l"(i32 0, i64 0), !dbg !25
  ; None of these.
  %a = alloca <2 x i32>, !dbg !26
  call void @llvm.masked.store.v2i32.p0(<2 x i32> zeroinitializer, ptr align 8 %a, <2 x i1> <i1 true, i1 false>), !dbg !26
  call void @llvm.prefetch.p0(ptr %p, i32 0, i32 3, i32 1), !dbg !26
  call void @llvm.nvvm.prefetch.global.L2(ptr addrspace(1) %g), !dbg !26
  call void @llvm.nvvm.cp.async.bulk.prefetch.L2(ptr addrspace(1) %g, i32 16, i64 0, i1 false), !dbg !26
  call void asm sideeffect "cp.async.bulk.prefetch.L2.global [$0], 16;", "l"(i64 0), !dbg !26
  call void @llvm.nvvm.cp.async.commit.group(), !dbg !26
  call void @llvm.nvvm.cp.async.wait.all(), !dbg !26
  call void @llvm.nvvm.membar.gl(), !dbg !26
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !26
  %w = call i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1) @texture), !dbg !26
  call void @llvm.assume(i1 %c), !dbg !26
  ret void, !dbg !26
}

@texture = external addrspace(1) global i64

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !{})
!11 = !DILocation(line: 1, column: 1, scope: !4)
!12 = !DILocation(line: 2, column: 1, scope: !4)
!13 = !DILocation(line: 3, column: 1, scope: !4)
!14 = !DILocation(line: 4, column: 1, scope: !4)
!15 = !DILocation(line: 5, column: 1, scope: !4)
!16 = !DILocation(line: 6, column: 1, scope: !4)
!17 = !DILocation(line: 7, column: 1, scope: !4)
!18 = !DILocation(line: 8, column: 1, scope: !4)
!19 = !DILocation(line: 9, column: 1, scope: !4)
!20 = !DILocation(line: 10, column: 1, scope: !4)
!21 = !DILocation(line: 11, column: 1, scope: !4)
!22 = !DILocation(line: 12, column: 1, scope: !4)
!23 = !DILocation(line: 13, column: 1, scope: !4)
!24 = !DILocation(line: 14, column: 1, scope: !4)
!25 = !DILocation(line: 15, column: 1, scope: !4)
!26 = !DILocation(line: 99, column: 1, scope: !4)
