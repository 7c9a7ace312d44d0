; Intent: ptxas combines accesses of neighbouring elements where it knows that their variable is aligned. The linker places variables of 16 bytes' alignment without gaps.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s --check-prefixes=CHECK,LINKED
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -crsan-whole-program -verify-each -S %s | FileCheck %s --check-prefixes=CHECK,WHOLE
target triple = "nvptx64-nvidia-cuda"

; CHECK: @table = addrspace(4) constant [64 x float] zeroinitializer, align 16
@table = addrspace(4) constant [64 x float] zeroinitializer, align 4
; CHECK: @tile = addrspace(3) global [4 x float] undef, align 16
@tile = addrspace(3) global [4 x float] undef, align 4
; CHECK: @pages = addrspace(3) global [64 x float] undef, align 128
@pages = addrspace(3) global [64 x float] undef, align 128

; Another alignment would leave gaps.
; CHECK: @odd = addrspace(3) global [5 x float] undef, align 4
@odd = addrspace(3) global [5 x float] undef, align 4

; Of what other modules define, too, the linker may take theirs.
; LINKED: @either = weak addrspace(3) global [4 x float] undef, align 4
; WHOLE: @either = weak addrspace(3) global [4 x float] undef, align 16
@either = weak addrspace(3) global [4 x float] undef, align 4

; CHECK: @given = external addrspace(3) global [0 x float], align 4
@given = external addrspace(3) global [0 x float], align 4
; CHECK: @memory = addrspace(1) global [4 x float] zeroinitializer, align 4
@memory = addrspace(1) global [4 x float] zeroinitializer, align 4

define ptx_kernel void @kernel(ptr addrspace(1) %to) {
  %value = load float, ptr addrspace(3) @tile
  store float %value, ptr addrspace(1) %to
  ret void
}
