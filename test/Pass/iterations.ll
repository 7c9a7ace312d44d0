; Intent: in front of a __syncthreads() in a counted loop stands the number of the iteration, if threads may come to
; it in different ones; copies of the barrier have their own numbers.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -verify-each -S %s \
; RUN:   -passes='crsan-mark,function(loop(crsan-count-iterations,crsan-count-iterations)),crsan' \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -crsan-check-calls -verify-each -S %s \
; RUN:   -passes='crsan-mark,function(loop(crsan-count-iterations,loop-unroll-full),instsimplify),crsan' \
; RUN:   | %python %S/Inputs/events.py | FileCheck %s --check-prefix=UNROLLED
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=collider -verify-each -S %s \
; RUN:   -passes='crsan-mark,function(loop(crsan-count-iterations)),crsan' \
; RUN:   | FileCheck %s --check-prefix=COLLIDER

target triple = "nvptx64-nvidia-cuda"

; Each iteration's barrier is for half of the warps.
; CHECK-LABEL: function alternating
; CHECK:         asm {{.*}}crsan_iteration, $0
; CHECK:         block_arrive(barrier, %i)
; CHECK-NEXT:    call @llvm.nvvm.barrier.cta.sync.aligned.all
; CHECK-NEXT:    block_depart(barrier, %i)
; UNROLLED-LABEL: function alternating
; UNROLLED:      block_arrive(barrier)
; UNROLLED:      block_arrive(barrier, 1)
; UNROLLED:      block_arrive(barrier, 2)
; COLLIDER-LABEL: @alternating(
; COLLIDER:       [[N:%.*]] = zext i32 %i to i64
; COLLIDER-NEXT:  call void asm sideeffect "{{.*}}crsan_iteration, $0
; COLLIDER-SAME:  (i64 [[N]])
; COLLIDER-NEXT:  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg
define ptx_kernel void @alternating() !dbg !5 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = lshr i32 %t, 5
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %s = add i32 %w, %i
  %b = trunc i32 %s to i1
  br i1 %b, label %meet, label %latch
meet:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !10
  br label %latch
latch:
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 3
  br i1 %more, label %head, label %end
end:
  ret void
}

; The numbers of both loops make one.
; CHECK-LABEL: function nested
; CHECK:         block_arrive(barrier, %{{[0-9]+}})
; COLLIDER-LABEL: @nested(
; COLLIDER:       [[A:%.*]] = mul i32 %i, -1640531535
; COLLIDER:       add i32 [[A]], %j
define ptx_kernel void @nested(i32 %n) !dbg !6 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %outer.latch ]
  br label %head
head:
  %j = phi i32 [ 0, %outer ], [ %j1, %latch ]
  %c = icmp ult i32 %j, %t
  br i1 %c, label %meet, label %latch
meet:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !11
  br label %latch
latch:
  %j1 = add nuw nsw i32 %j, 1
  %more = icmp ult i32 %j1, %n
  br i1 %more, label %head, label %outer.latch
outer.latch:
  %i1 = add nuw nsw i32 %i, 1
  %again = icmp ult i32 %i1, %n
  br i1 %again, label %outer, label %end
end:
  ret void
}

; The block's index decides, threads that have nothing to do leave, and a loop of each thread's own joins in front of
; the barrier: nothing is told, and no counter is left.
; CHECK-LABEL: function together
; CHECK-NOT:     crsan_iteration
; CHECK:         block_arrive(null)
; COLLIDER-LABEL: @together(
; COLLIDER-NOT:  crsan_iteration
; COLLIDER-NOT:  = phi i32 [ 0, %entry ]
; COLLIDER:      ret void
define ptx_kernel void @together(i32 %n) !dbg !7 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  br label %head
head:
  %i = phi i32 [ 7, %entry ], [ %next, %latch ]
  %leaves = icmp ugt i32 %t, %i
  br i1 %leaves, label %end, label %go
go:
  %s = add i32 %b, %i
  %c = trunc i32 %s to i1
  br i1 %c, label %own, label %latch
own:
  %j = phi i32 [ 0, %go ], [ %j1, %own ]
  %j1 = add nuw nsw i32 %j, 1
  %mine = icmp ult i32 %j1, %t
  br i1 %mine, label %own, label %meet
meet:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !12
  br label %latch
latch:
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %head, label %end
end:
  ret void
}

; What memory holds ends the outer loop.
; CHECK-LABEL: function spinning
; CHECK-NOT:     crsan_iteration
; CHECK:         block_arrive(null)
; COLLIDER-LABEL: @spinning(
; COLLIDER-NOT:  crsan_iteration
; COLLIDER:      ret void
define ptx_kernel void @spinning(ptr addrspace(1) %p) !dbg !8 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  br label %head
head:
  %j = phi i32 [ 0, %outer ], [ %j1, %latch ]
  %c = icmp ult i32 %j, %t
  br i1 %c, label %meet, label %latch
meet:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !13
  br label %latch
latch:
  %j1 = add nuw nsw i32 %j, 1
  %more = icmp ult i32 %j1, 5
  br i1 %more, label %head, label %outer.latch
outer.latch:
  %again = load volatile i1, ptr addrspace(1) %p
  br i1 %again, label %outer, label %end
end:
  ret void
}

; From which loops a function is called is not known.
; CHECK-LABEL: function called
; CHECK-NOT:     crsan_iteration
; CHECK:         block_arrive(barrier)
; COLLIDER-LABEL: @called(
; COLLIDER-NOT:  crsan_iteration
; COLLIDER:      ret void
define void @called() !dbg !9 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %head
head:
  %j = phi i32 [ 0, %entry ], [ %j1, %latch ]
  %c = icmp ult i32 %j, %t
  br i1 %c, label %meet, label %latch
meet:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !14
  br label %latch
latch:
  %j1 = add nuw nsw i32 %j, 1
  %more = icmp ult i32 %j1, 5
  br i1 %more, label %head, label %end
end:
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "a.cu", directory: "/x")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 2, !"Dwarf Version", i32 2}
!4 = !DISubroutineType(types: !{})
!5 = distinct !DISubprogram(name: "alternating", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!6 = distinct !DISubprogram(name: "nested", file: !1, line: 20, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!7 = distinct !DISubprogram(name: "together", file: !1, line: 30, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!8 = distinct !DISubprogram(name: "spinning", file: !1, line: 40, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!9 = distinct !DISubprogram(name: "called", file: !1, line: 50, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!10 = !DILocation(line: 3, column: 5, scope: !5)
!11 = !DILocation(line: 21, column: 3, scope: !6)
!12 = !DILocation(line: 31, column: 3, scope: !7)
!13 = !DILocation(line: 41, column: 3, scope: !8)
!14 = !DILocation(line: 51, column: 3, scope: !9)
