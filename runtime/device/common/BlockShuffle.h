// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of blocks.
#ifndef CRSAN_DEVICE_COMMON_BLOCKSHUFFLE_H
#define CRSAN_DEVICE_COMMON_BLOCKSHUFFLE_H

#include "common/Device.h"
#include "crsan/abi/BlockOrder.h"

namespace crsan::device {

/// The coefficients of the permutation of one extent of grids without clusters,
/// kept for later blocks. An element is written once and never changes, so a
/// reader never sees a mixture of two.
struct alignas(16) Permutation {
  uint32_t Extent; ///< Written last: the other fields are valid once Extent is.
  uint32_t A, BPlus1;
  uint32_t Magic; ///< (2^32 - 1) / Extent, rounded down.
};
/// Elements of the table for each dimension.
constexpr uint32_t NumPermutations = 64;

extern "C" {
__attribute__((device, weak))
Permutation __crsan_permutations[3 * NumPermutations];
}

/// The element for dimension `D` of `Extent` blocks.
DEVICE Permutation *permutationOf(uint32_t D, uint32_t Extent) {
  return __crsan_permutations + D * NumPermutations +
         Extent * 0x9e3779b1u / (1u << 26);
}

/// Returns the shuffled block index in dimension `D` for the hardware's `Index`
/// of `Extent` blocks, or `Index` if this grid is of the half whose blocks are
/// not permuted. Blocks of a cluster stay together.
extern "C" __attribute__((device, noinline)) uint32_t
__crsan_permute(uint32_t D, uint32_t Index, uint32_t Extent) {
  if (!isGridPermuted(__crsan_config.Seed, gridHere()))
    return Index;
  const uint32_t Cluster = __crsan_cluster_extent(D);
  Permutation *const Kept = permutationOf(D, Extent);
  Permutation P;
  asm("ld.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(P.Extent), "=r"(P.A), "=r"(P.BPlus1), "=r"(P.Magic)
      : "l"(Kept));
  if (P.Extent == Extent && Cluster == 1 && P.A != 0 && P.BPlus1 != 0 &&
      P.Magic != 0) {
    const uint32_t X = P.A * Index + P.BPlus1 - 1;
    uint32_t Rest = X - uint32_t(uint64_t(X) * P.Magic >> 32) * Extent;
    Rest = Rest >= Extent ? Rest - Extent : Rest;
    return Rest >= Extent ? Rest - Extent : Rest;
  }
  const uint32_t Blocks = Extent / Cluster;
  const AffineCipher Cipher = cipherOf(__crsan_config.Seed, D, Blocks);
  // The first thread claims the element and writes it. Other threads compute
  // the permutation for themselves meanwhile. One lane of a warp tries: when a
  // grid begins, all of its warps come here at once, and the atomics of one
  // location are executed one after the other.
  if (Cluster == 1 && Blocks > 1 &&
      lane() == uint32_t(__builtin_ctz(activeMask())) &&
      *reinterpret_cast<volatile uint32_t *>(&Kept->Magic) == 0 &&
      __nvvm_atom_cas_gen_i(reinterpret_cast<int *>(&Kept->Magic), 0,
                            ~0u / Blocks) == 0) {
    auto Write = [](uint32_t &Where, uint32_t What) {
      *reinterpret_cast<volatile uint32_t *>(&Where) = What;
    };
    Write(Kept->A, Cipher.A);
    Write(Kept->BPlus1, Cipher.B + 1);
    fenceDevice();
    Write(Kept->Extent, Extent);
  }
  return Cipher(Index / Cluster) * Cluster + Index % Cluster;
}

/// Entry point, inlined by the pass where a kernel reads %ctaid: the block
/// index that the program is to see. Each lane calls for itself.
extern "C" __attribute__((device, always_inline, used)) uint32_t
__crsan_block_index(uint32_t D, uint32_t Index, uint32_t Extent) {
  return Extent == 1 || !(__crsan_config.Flags & ShuffleBlocks)
             ? Index
             : __crsan_permute(D, Index, Extent);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COMMON_BLOCKSHUFFLE_H
