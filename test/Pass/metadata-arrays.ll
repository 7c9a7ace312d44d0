; Intent: which allocations a kernel's arguments point into decides, when it begins, whether what it
; only reads through one of them, or where each thread has a place of its own, is checked; unless it
; may write anywhere.
; RUN: %opt -load-pass-plugin=%pass_plugin -crsan-mode=metadata -passes=crsan-mark,crsan -verify-each -S %s \
; RUN:   | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

; CHECK-LABEL: define ptx_kernel void @copy(
; CHECK:       ld.u64 {{.*}}(ptr {{.*}}@__crsan_exemptions_copy
; CHECK:       call i64 @__crsan_md_seek_exemptions(ptr {{.*}}@__crsan_exemptions_copy
; CHECK:       [[TABLE:%.+]] = call <2 x i64> @__crsan_md_owners()
; CHECK:       [[IN:%.+]] = call i32 @__crsan_md_owner(i64 %{{.+}}, i64 %{{.+}}, i64 %{{.+}})
; CHECK-NEXT:  [[SOME:%.+]] = icmp ne i32 [[IN]], 0
; CHECK:       [[OUT:%.+]] = call i32 @__crsan_md_owner(
; CHECK-NEXT:  [[APART:%.+]] = icmp ne i32 [[IN]], [[OUT]]
; CHECK:       [[FREE:%.+]] = and i1 [[SOME]], [[APART]]
; CHECK-NEXT:  [[FOUND:%.+]] = zext i1 [[FREE]] to i64
; The first warps of a grid write the answer down.
; CHECK:       call void @__crsan_md_note_exemptions(ptr {{.*}}@__crsan_exemptions_copy{{.*}}, i64 [[FOUND]])
; CHECK:       [[WHICH:%.+]] = phi i64 [ %{{.+}}, %{{.+}} ], [ [[FOUND]], %{{.+}} ]
; CHECK-NEXT:  [[BIT:%.+]] = and i64 [[WHICH]], 1
; CHECK-NEXT:  [[FREE:%.+]] = icmp ne i64 [[BIT]], 0
; CHECK-NOT:   br
; CHECK:       load i32, {{.*}}@__crsan_config
; CHECK:       call {{.*}} @__crsan_md_enter(
; CHECK:       load i32, ptr %in
; CHECK:       [[NOT:%.+]] = xor i1 [[FREE]], true
; CHECK-NEXT:  br i1 [[NOT]], label %{{.*}}, label %[[BEHIND:[0-9]+]]
; CHECK:       call void @__crsan_md_check_read(
; CHECK:       [[BEHIND]]:
; CHECK:       store i32 %v, ptr %at
; CHECK:       atom.relaxed.gpu.global.exch.b64
define ptx_kernel void @copy(ptr %in, ptr %out) {
  %v = load i32, ptr %in
  %at = getelementptr i32, ptr %out, i32 %v
  store i32 %v, ptr %at
  ret void
}

; A pointer in a structure that the kernel is given.
; CHECK-LABEL: define ptx_kernel void @copyStructure(
; CHECK-COUNT-2: call i32 @__crsan_md_owner(
; CHECK:       ret void
define ptx_kernel void @copyStructure(ptr byval({ ptr, ptr }) %both) {
  %in = load ptr, ptr %both
  %at = getelementptr i8, ptr %both, i64 8
  %out = load ptr, ptr %at
  %v = load i32, ptr %in
  %to = getelementptr i32, ptr %out, i32 %v
  store i32 %v, ptr %to
  ret void
}

; A packed structure's pointers are read byte by byte, as the kernel reads them.
; CHECK-LABEL: define ptx_kernel void @copyPacked(
; CHECK-COUNT-2: load ptr, ptr %{{.+}}, align 1
; CHECK:       ret void
define ptx_kernel void @copyPacked(ptr byval(<{ i8, ptr, ptr }>) align 1 %both) {
  %from = getelementptr i8, ptr %both, i64 1
  %in = load ptr, ptr %from, align 1
  %at = getelementptr i8, ptr %both, i64 9
  %out = load ptr, ptr %at, align 1
  %v = load i32, ptr %in
  %to = getelementptr i32, ptr %out, i32 %v
  store i32 %v, ptr %to
  ret void
}

; Each thread has a place of its own, or the launch is checked: by another body.
; CHECK-LABEL: define ptx_kernel void @double(
; CHECK:       call i32 @__crsan_md_owner(
; CHECK-NOT:   call i32 @__crsan_md_owner(
; CHECK:       [[REACH:%.+]] = icmp ult i64 %{{.+}}, 2147483648
; CHECK:       [[WIDE:%.+]] = icmp sge i64
; CHECK:       call i32 @__crsan_md_draw(
; CHECK:       [[FOLLOWED:%.+]] = phi i1
; CHECK:       br i1 %{{.+}}, label %[[PLAIN:.+]], label %[[CHECKED:.+]]
; CHECK:       [[CHECKED]]:
; CHECK:       call {{.*}} @__crsan_md_enter(
; CHECK:       atom.relaxed.gpu.global.exch.b64
; CHECK:       call void @__crsan_md_leave(
; CHECK:       ret void
; CHECK:       [[PLAIN]]:
; CHECK-NEXT:  call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK-NOT:   call void @__crsan_md_{{enter|check|leave}}
; CHECK:       store i32
; CHECK:       [[COUNT:%.+]] = select i1 [[FOLLOWED]], i32 %{{.+}}, i32 0
; In a grid of many blocks, one in 16 counts for all.
; CHECK:       [[ALL:%.+]] = shl i32 [[COUNT]], 4
; CHECK:       select i1 %{{.+}}, i32 [[ALL]], i32 [[COUNT]]
; CHECK-NEXT:  call void @__crsan_md_count_proven(i32
; CHECK:       ret void
define ptx_kernel void @double(ptr %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %b, %n
  %i = add i32 %first, %t
  %wide = zext i32 %i to i64
  %at = getelementptr i32, ptr %p, i64 %wide
  %v = load i32, ptr %at
  %twice = shl i32 %v, 1
  store i32 %twice, ptr %at
  ret void
}

; The next one's place, too.
; CHECK-LABEL: define ptx_kernel void @shift(
; CHECK-NOT:   @__crsan_md_owners(
; CHECK:       ret void
define ptx_kernel void @shift(ptr %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr %p, i32 %t
  %next = getelementptr i32, ptr %at, i64 1
  %v = load i32, ptr %next
  store i32 %v, ptr %at
  ret void
}

; CHECK-LABEL: define ptx_kernel void @increment(
; CHECK-NOT:   @__crsan_md_owners(
; CHECK:       ret void
define ptx_kernel void @increment(ptr %p, i64 %i) {
  %v = load i32, ptr %p
  %at = getelementptr i32, ptr %p, i64 %i
  store i32 %v, ptr %at
  ret void
}

; Through what it reads, it may write anywhere.
; CHECK-LABEL: define ptx_kernel void @indirect(
; CHECK-NOT:   @__crsan_md_owners(
; CHECK:       ret void
define ptx_kernel void @indirect(ptr %in, ptr %list) {
  %v = load i32, ptr %in
  %out = load ptr, ptr %list
  store i32 %v, ptr %out
  ret void
}

; What it reads through another pointer may be anybody's place.
; CHECK-LABEL: define ptx_kernel void @gather(
; CHECK-NOT:   icmp sge i64
; CHECK:       ret void
define ptx_kernel void @gather(ptr %out, ptr %list) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %in = load ptr, ptr %list
  %v = load i32, ptr %in
  %at = getelementptr i32, ptr %out, i32 %t
  store i32 %v, ptr %at
  ret void
}

; A function reads what it is given, wherever that is.
; CHECK-LABEL: define ptx_kernel void @callsReader(
; CHECK-NOT:   icmp sge i64
; CHECK:       ret void
define internal i32 @reader(ptr %p) noinline memory(read) {
  %v = load i32, ptr %p
  ret i32 %v
}
define ptx_kernel void @callsReader(ptr %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr %p, i32 %t
  %v = call i32 @reader(ptr %p) memory(read)
  store i32 %v, ptr %at
  ret void
}
