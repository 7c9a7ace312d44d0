; Intent: what metadata mode does not check is remarked with the reason; inline PTX that it
; does check is not.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan -pass-remarks-missed=cuda-race \
; RUN:   -disable-output %s 2>&1 | FileCheck %s --implicit-check-not=remark:

; CHECK: remark: k.cu:3:1: access is not checked for races: it is made in the background, by an asynchronous copy or matrix operation of a form that is not supported
; CHECK: remark: k.cu:3:2: access is not checked for races: it is in inline PTX
; CHECK: remark: k.cu:3:3: load is not checked for races: the optimiser may have moved it above the branch that guards it
; CHECK: remark: k.cu:3:4: access is not checked for races: it is made in the background, by an asynchronous copy or matrix operation of a form that is not supported
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %s) !dbg !4 {
  call void asm sideeffect "st.global.u32 [$0], 1;", "l"(ptr addrspace(1) %p), !dbg !7
  call void asm sideeffect "st.release.gpu.global.u32 [$0], 1;", "l"(ptr addrspace(1) %p), !dbg !7
  call void asm sideeffect "bar.sync 0;", "l"(ptr addrspace(1) %p), !dbg !7
  %u = atomicrmw add ptr addrspace(1) %p, i32 1 seq_cst, !dbg !7
  call void asm sideeffect "{.reg .u64 a; add.u64 a, $0, 4; cp.async.ca.shared.global [a], [$1], 4;}", "l,l"(ptr addrspace(3) %s, ptr addrspace(1) %p), !dbg !8
  call void asm sideeffect "{.reg .pred q; @q st.global.u32 [$0], 1;}", "l"(ptr addrspace(1) %p), !dbg !9
  %v = load i32, ptr addrspace(1) %p, !dbg !10
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %s, ptr addrspace(1) %p), !dbg !7
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 4;", "l,l"(ptr addrspace(3) %s, ptr addrspace(1) %p), !dbg !7
  call void asm sideeffect "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [$1, {$2, $2, $2}], [$0];", "l,l,r"(ptr addrspace(3) %s, ptr addrspace(1) %p, i32 0), !dbg !11
  call void @llvm.nvvm.cp.async.commit.group(), !dbg !11
  call void @llvm.nvvm.cp.async.wait.group(i32 0), !dbg !11
  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0), !dbg !11
  ret void, !dbg !7
}

declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare void @llvm.nvvm.cp.async.bulk.wait.group.read(i32)
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !{})
!7 = !DILocation(line: 2, column: 1, scope: !4)
!8 = !DILocation(line: 3, column: 1, scope: !4)
!9 = !DILocation(line: 3, column: 2, scope: !4)
!10 = !DILocation(line: 3, column: 3, scope: !4)
!11 = !DILocation(line: 3, column: 4, scope: !4)
