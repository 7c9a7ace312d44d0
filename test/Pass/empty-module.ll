; Intent: a module without any code passes through the whole pipeline and assembles.
; REQUIRES: ptxas
; RUN: %opt -load-pass-plugin=%pass_plugin -passes='default<O2>' -verify-each -S %s -o %t.ll
; RUN: FileCheck %s --input-file=%t.ll
; RUN: llc -mcpu=sm_80 -mattr=+ptx78 %t.ll -o %t.ptx
; RUN: %ptxas -arch=sm_80 -c %t.ptx -o %t.o

target triple = "nvptx64-nvidia-cuda"

; CHECK: @__crsan_table_{{.*}} c"CRSN
; CHECK-NOT: define ptx_kernel
