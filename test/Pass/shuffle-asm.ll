; Intent: blocks are not shuffled where assembly reads the block index itself.
; The flags are the header's eleventh word: 40 bytes from its start.
; RUN: split-file %s %t
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -S %t/depends.ll | FileCheck %s --check-prefix=DEPENDS
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -S %t/free.ll | FileCheck %s --check-prefix=FREE
; DEPENDS: @__crsan_table_{{.*}} c"CRSN{{(\\..|[^\\]){36}}}\01\00\00\00
; FREE: @__crsan_table_{{.*}} c"CRSN{{(\\..|[^\\]){36}}}\00\00\00\00

;--- depends.ll
target triple = "nvptx64-nvidia-cuda"
define i32 @f() {
  %x = call i32 asm "mov.u32 $0, %ctaid.x;", "=r"()
  ret i32 %x
}

;--- free.ll
target triple = "nvptx64-nvidia-cuda"
define i32 @f() {
  %x = call i32 asm "mov.u32 $0, %tid.x;", "=r"()
  ret i32 %x
}
