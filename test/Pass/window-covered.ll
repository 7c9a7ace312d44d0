; Intent: a load needs no check of its own where a store of the same group and line writes all that it reads: what
; conflicts with the load conflicts with the store. The store takes no garbage then if the load comes behind the check.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | %python %S/Inputs/sites.py --garbage | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; x[i] += x[j]: the store takes the load's place.
; CHECK-LABEL: kernel update
; CHECK-NEXT: check
; CHECK-NEXT: store size 4 offset 0 space 1 meets 0b10{{$}}
; CHECK-NEXT: load size 4 offset 0 space 1{{$}}
; CHECK-NOT: {{check|load|store}}
define ptx_kernel void @update(ptr addrspace(1) %p, ptr addrspace(1) %q) !dbg !4 {
  %v = load i32, ptr addrspace(1) %p, !dbg !7
  %w = load i32, ptr addrspace(1) %q, !dbg !7
  %s = add i32 %v, %w
  store i32 %s, ptr addrspace(1) %p, !dbg !7
  ret void, !dbg !7
}

; CHECK-LABEL: kernel lines
; CHECK-NEXT: check
; CHECK-NEXT: load size 4
; CHECK-NEXT: store size 4 {{.*}} with its value takes garbage{{$}}
define ptx_kernel void @lines(ptr addrspace(1) %p) !dbg !14 {
  %v = load i32, ptr addrspace(1) %p, !dbg !15
  store i32 1, ptr addrspace(1) %p, !dbg !16
  ret void, !dbg !16
}

; CHECK-LABEL: kernel within
; CHECK-NEXT: check
; CHECK-NEXT: store size 8 offset 0 space 1 with its value{{$}}
; CHECK-NOT: {{check|load|store}}
define ptx_kernel void @within(ptr addrspace(1) %p) !dbg !24 {
  %v = load i32, ptr addrspace(1) %p, !dbg !25
  store i64 1, ptr addrspace(1) %p, !dbg !25
  ret void, !dbg !25
}

; CHECK-LABEL: kernel narrow
; CHECK-NEXT: check
; CHECK-NEXT: load size 8
; CHECK-NEXT: store size 4 {{.*}} takes garbage{{$}}
define ptx_kernel void @narrow(ptr addrspace(1) %p) !dbg !34 {
  %v = load i64, ptr addrspace(1) %p, !dbg !35
  store i32 1, ptr addrspace(1) %p, !dbg !35
  ret void, !dbg !35
}

; A load behind the store reads what the thread has written: garbage does no harm.
; CHECK-LABEL: kernel behind
; CHECK-NEXT: check
; CHECK-NEXT: store size 4 {{.*}} with its value takes garbage{{$}}
; CHECK-NOT: {{check|load|store}}
define ptx_kernel void @behind(ptr addrspace(1) %p) !dbg !44 {
  store i32 1, ptr addrspace(1) %p, !dbg !45
  %v = load i32, ptr addrspace(1) %p, !dbg !45
  ret void, !dbg !45
}

; CHECK-LABEL: kernel between
; CHECK-NEXT: check
; CHECK-NEXT: load size 4
; CHECK-NEXT: check
; CHECK-NEXT: store size 4
define ptx_kernel void @between(ptr addrspace(3) %p) !dbg !54 {
  %v = load i32, ptr addrspace(3) %p, !dbg !55
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !55
  store i32 1, ptr addrspace(3) %p, !dbg !55
  ret void, !dbg !55
}

; x[i] = x[i] + *y[i]: the address of the last load is not known where the first group is checked, and the store is
; compared with that load, lane against lane. So it stays in the second group, and the load of x[i] in the first.
; CHECK-LABEL: kernel gather
; CHECK-NEXT: check
; CHECK-NEXT: load size 4 offset 0 space 1{{$}}
; CHECK-NEXT: load size 8 offset 0 space 1{{$}}
; CHECK-NEXT: check
; CHECK-NEXT: load size 4 offset 0 space 1{{$}}
; CHECK-NEXT: store size 4 offset 0 space 1 meets 0b1 takes garbage{{$}}
define ptx_kernel void @gather(ptr addrspace(1) %p, ptr addrspace(1) %y) !dbg !64 {
  %v = load i32, ptr addrspace(1) %p, !dbg !65
  %q = load ptr addrspace(1), ptr addrspace(1) %y, !dbg !65
  %w = load i32, ptr addrspace(1) %q, !dbg !65
  %s = add i32 %v, %w
  store i32 %s, ptr addrspace(1) %p, !dbg !65
  ret void, !dbg !65
}

; Another store behind the covered load may take garbage: the check sees all of its own bytes.
; CHECK-LABEL: kernel another
; CHECK-NEXT: check
; CHECK-NEXT: store size 4 {{.*}}space 1 meets 0b10{{$}}
; CHECK-NEXT: store size 4 {{.*}}space 1 with its value takes garbage{{$}}
define ptx_kernel void @another(ptr addrspace(1) %p, ptr addrspace(1) %q) !dbg !74 {
  %v = load i32, ptr addrspace(1) %p, !dbg !75
  %s = add i32 %v, 1
  store i32 %s, ptr addrspace(1) %p, !dbg !75
  store i32 1, ptr addrspace(1) %q, !dbg !76
  ret void, !dbg !76
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!5 = !DISubroutineType(types: !{})
!4 = distinct !DISubprogram(name: "update", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!7 = !DILocation(line: 2, column: 1, scope: !4)
!14 = distinct !DISubprogram(name: "lines", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!15 = !DILocation(line: 2, column: 1, scope: !14)
!16 = !DILocation(line: 3, column: 1, scope: !14)
!24 = distinct !DISubprogram(name: "within", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!25 = !DILocation(line: 2, column: 1, scope: !24)
!34 = distinct !DISubprogram(name: "narrow", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!35 = !DILocation(line: 2, column: 1, scope: !34)
!44 = distinct !DISubprogram(name: "behind", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!45 = !DILocation(line: 2, column: 1, scope: !44)
!54 = distinct !DISubprogram(name: "between", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!55 = !DILocation(line: 2, column: 1, scope: !54)
!64 = distinct !DISubprogram(name: "gather", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!65 = !DILocation(line: 2, column: 1, scope: !64)
!74 = distinct !DISubprogram(name: "another", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!75 = !DILocation(line: 2, column: 1, scope: !74)
!76 = !DILocation(line: 3, column: 1, scope: !74)
