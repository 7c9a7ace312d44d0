; Intent: of several accesses of one place between two synchronisations, one is checked: the
; first that the others' races are races of, too.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --match-full-lines

target triple = "nvptx64-nvidia-cuda"

; CHECK:      function again
; CHECK-NEXT:   called
; CHECK-NEXT:   access(load 8 global, %p)
; CHECK-NEXT:   load
; CHECK-NEXT:   load
; CHECK-NEXT:   access(store 4 global, %q)
; CHECK-NEXT:   store
; CHECK-NEXT:   store
; CHECK-NEXT:   load
; CHECK-NEXT:   access(load 4 global, %r)
; CHECK-NEXT:   load
; CHECK-NEXT:   ret
define void @again(ptr addrspace(1) %p) {
  %q = getelementptr i8, ptr addrspace(1) %p, i64 4
  %r = getelementptr i8, ptr addrspace(1) %p, i64 6
  %a = load i64, ptr addrspace(1) %p
  %b = load i32, ptr addrspace(1) %q
  store i32 1, ptr addrspace(1) %q
  store i32 2, ptr addrspace(1) %q
  %c = load i32, ptr addrspace(1) %q
  %d = load i32, ptr addrspace(1) %r, align 2
  ret void
}

; The store comes with the load: one line, one check.
; CHECK:      function update
; CHECK-NEXT:   called
; CHECK-NEXT:   access(store 4 global, %p)
; CHECK-NEXT:   load
; CHECK-NEXT:   call @llvm.nvvm.shfl.sync.idx.i32
; CHECK-NEXT:   store
; CHECK-NEXT:   load
; CHECK-NEXT:   ret
define void @update(ptr addrspace(1) %p) !dbg !10 {
  %a = load i32, ptr addrspace(1) %p, !dbg !11
  %b = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %a, i32 0, i32 31)
  store i32 %b, ptr addrspace(1) %p, !dbg !11
  %c = load i32, ptr addrspace(1) %p, !dbg !12
  ret void
}

; A wider store that begins earlier.
; CHECK:      function wider
; CHECK-NEXT:   called
; CHECK-NEXT:   access(store 8 global, %q+-4)
; CHECK-NEXT:   load
; CHECK-NEXT:   store
; CHECK-NEXT:   access(store 16 global, %p)
; CHECK-NEXT:   store
; CHECK-NEXT:   ret
define void @wider(ptr addrspace(1) %p) !dbg !13 {
  %q = getelementptr i8, ptr addrspace(1) %p, i64 4
  %a = load i32, ptr addrspace(1) %q, !dbg !14
  store i64 0, ptr addrspace(1) %p, !dbg !14
  store i128 0, ptr addrspace(1) %p, !dbg !14
  ret void
}

; CHECK:      function lines
; CHECK-NEXT:   called
; CHECK-NEXT:   access(load 4 global, %p)
; CHECK-NEXT:   load
; CHECK-NEXT:   access(store 4 global, %p)
; CHECK-NEXT:   store
; CHECK-NEXT:   ret
define void @lines(ptr addrspace(1) %p) !dbg !16 {
  %a = load i32, ptr addrspace(1) %p, !dbg !17
  store i32 %a, ptr addrspace(1) %p, !dbg !18
  ret void
}

; CHECK:      function ordered
; CHECK-NEXT:   called
; CHECK-NEXT:   access(load 4 global, %p)
; CHECK-NEXT:   load
; CHECK-NEXT:   fence
; CHECK-NEXT:   fence(3)
; CHECK-NEXT:   access(load 4 global, %p)
; CHECK-NEXT:   load
; CHECK-NEXT:   call @again
; CHECK-NEXT:   access(store 4 global, %p)
; CHECK-NEXT:   store
; CHECK-NEXT:   ret
define void @ordered(ptr addrspace(1) %p) {
  %a = load i32, ptr addrspace(1) %p
  fence seq_cst
  %b = load i32, ptr addrspace(1) %p
  call void @again(ptr addrspace(1) %p)
  store i32 %b, ptr addrspace(1) %p
  ret void
}

; In a block that only one other leads to, what was checked there is known; but the store may
; not come.
; CHECK:      function branch
; CHECK-NEXT:   called
; CHECK-NEXT:   access(load 4 global, %p)
; CHECK-NEXT:   load
; CHECK-NEXT:   yes:
; CHECK-NEXT:   load
; CHECK-NEXT:   access(store 4 global, %p)
; CHECK-NEXT:   store
; CHECK-NEXT:   no:
; CHECK-NEXT:   access(load 4 global, %p)
; CHECK-NEXT:   load
; CHECK-NEXT:   ret
define void @branch(ptr addrspace(1) %p, i1 %c) !dbg !19 {
  %a = load i32, ptr addrspace(1) %p, !dbg !20
  br i1 %c, label %yes, label %no
yes:
  %b = load i32, ptr addrspace(1) %p, !dbg !20
  store i32 %b, ptr addrspace(1) %p, !dbg !20
  br label %no
no:
  %d = load i32, ptr addrspace(1) %p, !dbg !20
  ret void
}

declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!5 = !DISubroutineType(types: !{})
!10 = distinct !DISubprogram(name: "update", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!11 = !DILocation(line: 2, column: 1, scope: !10)
!12 = !DILocation(line: 3, column: 1, scope: !10)
!13 = distinct !DISubprogram(name: "wider", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!14 = !DILocation(line: 2, column: 1, scope: !13)
!15 = !DILocation(line: 3, column: 1, scope: !13)
!16 = distinct !DISubprogram(name: "lines", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!17 = !DILocation(line: 2, column: 1, scope: !16)
!18 = !DILocation(line: 3, column: 1, scope: !16)
!19 = distinct !DISubprogram(name: "branch", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!20 = !DILocation(line: 2, column: 1, scope: !19)
!21 = !DILocation(line: 3, column: 1, scope: !19)
