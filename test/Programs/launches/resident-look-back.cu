// Intent: a scan in one pass, in which each block looks back at the sums of those before
// it: the first block has the last tile, so that all blocks must run at a time.
// CLEAN-ONLY
#include "persistent.h"

constexpr unsigned Each = 4;
constexpr unsigned long long HasSum = 1ull << 32, HasPrefix = 2ull << 32;

/// The sum of what comes before \p Tile.
__device__ unsigned lookBack(const volatile unsigned long long *Tiles,
                             unsigned Tile) {
  unsigned Before = 0;
  while (Tile-- > 0) {
    unsigned long long State;
    while ((State = Tiles[Tile]) < HasSum)
      ;
    Before += unsigned(State);
    if (State >= HasPrefix)
      break;
  }
  return Before;
}

__global__ void scan(const unsigned *In, unsigned *Out,
                     volatile unsigned long long *Tiles) {
  __shared__ unsigned Sums[2][512], Before;
  const unsigned T = threadIdx.x, N = blockDim.x;
  const unsigned Tile = gridDim.x - 1 - blockIdx.x;
  const unsigned Begin = (Tile * N + T) * Each;
  unsigned Mine[Each], Sum = 0;
  for (unsigned I = 0; I < Each; ++I)
    Mine[I] = Sum += In[Begin + I];
  unsigned Turn = 0;
  Sums[0][T] = Sum;
  __syncthreads();
  for (unsigned By = 1; By < N; By *= 2, Turn ^= 1) {
    Sums[!Turn][T] = Sums[Turn][T] + (T >= By ? Sums[Turn][T - By] : 0);
    __syncthreads();
  }
  if (T == 0) {
    const unsigned Whole = Sums[Turn][N - 1];
    Tiles[Tile] = HasSum | Whole;
    Before = lookBack(Tiles, Tile);
    Tiles[Tile] = HasPrefix | (Before + Whole);
  }
  __syncthreads();
  const unsigned Offset = Before + Sums[Turn][T] - Sum;
  for (unsigned I = 0; I < Each; ++I)
    Out[Begin + I] = Offset + Mine[I];
}

int main() {
  const unsigned Blocks = blocksByHand(), N = Blocks * Threads * Each;
  std::vector<unsigned> In(N);
  for (unsigned I = 0; I < N; ++I)
    In[I] = I * 2654435761u >> 20;
  unsigned *Device = upload(In), *Out = zeroed<unsigned>(N);
  auto *Tiles = zeroed<unsigned long long>(Blocks);
  measure("look-back", [&] {
    CHECK(cudaMemsetAsync(Tiles, 0, Blocks * sizeof(*Tiles)));
    scan<<<Blocks, Threads>>>(Device, Out, Tiles);
  });
  for (unsigned I = 1; I < N; ++I)
    In[I] += In[I - 1];
  return finish(matches(Out, N, [&](size_t I) { return In[I]; }));
}
