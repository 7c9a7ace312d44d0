// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of warp groups (wgmma): 64 x 8 sums of 32 bits, from operands
// that are 16 halves deep.
#ifndef CRSAN_TEST_PROGRAMS_PRODUCTS_H
#define CRSAN_TEST_PROGRAMS_PRODUCTS_H

#include "asynchronous.h"
#include <cuda_fp16.h>

/// How lines of an operand are swizzled, as a descriptor says it.
enum Swizzle { None = 0, Lines128 = 1, Lines64 = 2, Lines32 = 3 };

/// A matrix descriptor; the offsets are in bytes.
__host__ __device__ inline uint64_t describe(unsigned Address, unsigned Leading,
                                             unsigned Stride, Swizzle Mode) {
  return uint64_t(Address & 0x3ffff) >> 4 | uint64_t(Leading >> 4) << 16 |
         uint64_t(Stride >> 4) << 32 | uint64_t(Mode) << 62;
}

/// D += A * B. What a thread has of D are rows of its warp.
#define MULTIPLY_AS(D, A, B, ByColumnsA, ByColumnsB)                           \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, 0, 1;\n\t"                      \
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "            \
               "{%0,%1,%2,%3}, %4, %5, p, 1, 1, %6, %7; }"                     \
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])                \
               : "l"(A), "l"(B), "n"(ByColumnsA), "n"(ByColumnsB)              \
               : "memory")
#define MULTIPLY(D, A, B) MULTIPLY_AS(D, A, B, 0, 0)

/// The same, with A in registers.
#define MULTIPLY_REGISTERS(D, A, B)                                            \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, 0, 1;\n\t"                      \
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "            \
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p, 1, 1, 0; }"               \
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])                \
               : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "l"(B)            \
               : "memory")

__device__ inline void beginProducts() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void commitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits for all groups of products but the last \p Groups, whose sums are in D.
template <unsigned Groups = 0> __device__ inline void awaitProducts(float (&D)[4]) {
  asm volatile("wgmma.wait_group.sync.aligned %4;"
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
               : "n"(Groups)
               : "memory");
}

#endif // CRSAN_TEST_PROGRAMS_PRODUCTS_H
