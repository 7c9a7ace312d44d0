// Intent: sums of blocks by shared memory and by tiles, by cooperative groups' reduce and
// by shuffles, where cooperative groups' barrier separates the steps.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "../check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 256;
CONSTANT Scaled<264, 2> Blocks;
CONSTANT Scaled<20, 2> Rounds;
constexpr unsigned Each = 3;

/// Halves in shared memory, down to one.
struct Halves {
  static __device__ unsigned sum(unsigned Mine, unsigned *Part) {
    cg::thread_block Block = cg::this_thread_block();
    const unsigned T = threadIdx.x;
    Part[T] = Mine;
    cg::sync(Block);
    for (unsigned S = Threads / 2; S > 0; S >>= 1) {
      if (T < S)
        Part[T] += Part[T + S];
      cg::sync(Block);
    }
    return Part[0];
  }
};

/// Pairs whose distance grows, by an index that takes lanes apart.
struct Pairs {
  static __device__ unsigned sum(unsigned Mine, unsigned *Part) {
    cg::thread_block Block = cg::this_thread_block();
    const unsigned T = threadIdx.x;
    Part[T] = Mine;
    cg::sync(Block);
    for (unsigned S = 1; S < Threads; S *= 2) {
      if (T % (2 * S) == 0)
        Part[T] += Part[T + S];
      cg::sync(Block);
    }
    return Part[0];
  }
};

/// Tiles in registers, then the tiles' sums in shared memory.
template <unsigned Size> struct Tiles {
  static __device__ unsigned sum(unsigned Mine, unsigned *Part) {
    cg::thread_block Block = cg::this_thread_block();
    auto Tile = cg::tiled_partition<Size>(Block);
    const unsigned Whole = cg::reduce(Tile, Mine, cg::plus<unsigned>());
    if (Tile.thread_rank() == 0)
      Part[threadIdx.x / Size] = Whole;
    cg::sync(Block);
    if (threadIdx.x == 0)
      for (unsigned I = 1; I < Threads / Size; ++I)
        Part[0] += Part[I];
    cg::sync(Block);
    return Part[0];
  }
};

/// Each tile by its own barriers in shared memory.
struct TileBarriers {
  static __device__ unsigned sum(unsigned Mine, unsigned *Part) {
    cg::thread_block Block = cg::this_thread_block();
    auto Tile = cg::tiled_partition<32>(Block);
    unsigned *Own = Part + threadIdx.x / 32 * 32;
    const unsigned L = Tile.thread_rank();
    Own[L] = Mine;
    Tile.sync();
    for (unsigned S = 16; S > 0; S /= 2) {
      if (L < S)
        Own[L] += Own[L + S];
      Tile.sync();
    }
    cg::sync(Block);
    unsigned Sum = 0;
    for (unsigned I = 0; I < Threads; I += 32)
      Sum += Part[I];
    return Sum;
  }
};

template <typename How>
__global__ void reduce(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Part[Threads];
  cg::thread_block Block = cg::this_thread_block();
  unsigned Total = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned Mine = 0;
    for (unsigned I = threadIdx.x; I < Each * Threads; I += Threads)
      Mine += In[blockIdx.x * Each * Threads + I] + R;
    Total += How::sum(Mine, Part);
    cg::sync(Block);
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Total;
}

template <typename How> bool test() {
  std::vector<unsigned> In(Blocks * Each * Threads), Want(Blocks);
  for (unsigned I = 0; I < In.size(); ++I) {
    In[I] = I * 40503u >> 3;
    Want[I / (Each * Threads)] += Rounds * In[I] + Rounds * (Rounds - 1) / 2;
  }
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  reduce<How><<<Blocks, Threads>>>(upload(In), Out);
  return matches(Out, Blocks * Threads,
                 [&](size_t I) { return Want[I / Threads]; });
}

int main() {
  bool Right = test<Halves>();
  Right &= test<Pairs>();
  Right &= test<Tiles<32>>();
  Right &= test<Tiles<8>>();
  Right &= test<TileBarriers>();
  return finish(Right);
}
