// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The permutation of block indices.
//
// Block shuffling (SuperCollider 3.5.2): the device permutes the block indices
// that the program sees, and the host permutes the hardware's block indices
// that it finds in records. Neighbours often race, and most often run at the
// same time if they are not permuted; other blocks do only if they are. So
// about half of all grids are permuted.
#ifndef CRSAN_ABI_BLOCKORDER_H
#define CRSAN_ABI_BLOCKORDER_H

#include <cstdint>

#ifdef __CUDA__
#define CRSAN_HOST_DEVICE __attribute__((host, device, always_inline))
#else
#define CRSAN_HOST_DEVICE
#endif

namespace crsan::abi {

/// Finalizer of MurmurHash3: spreads the few bits in which two inputs differ.
CRSAN_HOST_DEVICE inline uint32_t mix(uint32_t X) {
  X ^= X >> 16;
  X *= 0x85ebca6bu;
  X ^= X >> 13;
  X *= 0xc2b2ae35u;
  return X ^ (X >> 16);
}

/// Whether the blocks of the grid `Grid` (%gridid) are permuted. With seed 0,
/// those of a process's first two grids are.
CRSAN_HOST_DEVICE inline bool isGridPermuted(uint32_t Seed, uint64_t Grid) {
  return !(mix(uint32_t(Grid) ^ Seed * 0x9e3779b1u) >> 31);
}

/// Equation 1 for a dimension of `N` clusters. Products fit into 32 bits.
struct AffineCipher {
  uint32_t A, B, N;
  CRSAN_HOST_DEVICE uint32_t operator()(uint32_t X) const {
    return N <= 1 ? X : (A * X + B) % N;
  }
};

/// The cipher of dimension `D`. Where a product of two indices fits into 32
/// bits, `A` comes from a prime above every grid extent, coprime to all of
/// them; for large grids it is a smaller prime that does not divide the extent.
CRSAN_HOST_DEVICE inline AffineCipher cipherOf(uint32_t Seed, uint32_t D,
                                               uint32_t N) {
  constexpr uint32_t LargePrimes[] = {2654435761u, 2246822519u, 3266489917u,
                                      4294967291u};
  constexpr uint16_t SmallPrimes[] = {65521, 32749, 16381, 8191, 4093, 2039,
                                      1021,  509,   251,   127,  61,   31,
                                      13,    7,     5,     3,    2,    1};
  if (N <= 1)
    return {1, 0, N};
  const uint32_t Random = mix(Seed * 4 + D + 1);
  uint32_t A = LargePrimes[Random & 3];
  const uint32_t Limit = ~0u / N - 1;
  if (N < Limit)
    A %= N;
  else
    for (const uint16_t *P = SmallPrimes;; ++P) {
      A = *P;
      if (A == 1 || (A <= Limit && N % A != 0))
        break;
    }
  return {A, mix(Random) % N, N};
}

/// Block shuffling in dimension `D` of a grid of `Extent` blocks, `Cluster` of
/// them a cluster: whole clusters move.
CRSAN_HOST_DEVICE inline uint32_t permuteBlock(uint32_t Seed, uint32_t D,
                                               uint32_t Index, uint32_t Extent,
                                               uint32_t Cluster) {
  const AffineCipher Cipher = cipherOf(Seed, D, Extent / Cluster);
  return Cipher(Index / Cluster) * Cluster + Index % Cluster;
}

} // namespace crsan::abi

#endif // CRSAN_ABI_BLOCKORDER_H
