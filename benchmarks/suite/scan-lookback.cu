// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inclusive prefix sums by one kernel with decoupled look-back: each block
// draws the next tile, publishes its sum, and adds up what earlier tiles have
// published, back to one that knows all that is before it. A state that is
// stored with release and loaded with acquire says what a tile has published.
// The planted variant stores the state relaxed.
//
// UNSEEN: collider: the kernel has acquires, and each sum is stored long before

#include "Suite.h"
#include <cuda/atomic>

constexpr int Threads = 256, Items = 8, Tile = Threads * Items;

enum State { Nothing, HasSum, HasPrefix };

using StateRef = cuda::atomic_ref<int, cuda::thread_scope_device>;

struct Tiles {
  int *Next;          // The tile that is to be drawn next.
  int *States;        // Of each tile.
  uint32_t *Sums;     // Of each tile alone.
  uint32_t *Prefixes; // Of each tile and all before it.
};

__device__ uint32_t scanBlock(uint32_t Value) {
  __shared__ uint32_t WarpSums[Threads / 32];
  const int Lane = threadIdx.x % 32, Warp = threadIdx.x / 32;
  for (int Step = 1; Step < 32; Step *= 2) {
    const uint32_t Before = __shfl_up_sync(~0u, Value, Step);
    Value += Lane >= Step ? Before : 0;
  }
  if (Lane == 31)
    WarpSums[Warp] = Value;
  __syncthreads();
  for (int I = 0; I < Warp; ++I)
    Value += WarpSums[I];
  return Value;
}

__device__ void publish(int *TileState, State S) {
  constexpr auto Order =
      VARIANT(cuda::memory_order_release, cuda::memory_order_relaxed);
  StateRef(*TileState).store(S, Order);
}

/// The sum of all tiles in front of \p Own.
__device__ uint32_t lookBack(const Tiles &All, int Own) {
  uint32_t Sum = 0;
  for (int Before = Own - 1; Before >= 0; --Before) {
    int S;
    do
      S = StateRef(All.States[Before]).load(cuda::memory_order_acquire);
    while (S == Nothing);
    if (S == HasPrefix)
      return Sum + All.Prefixes[Before]; // RACE
    Sum += All.Sums[Before];             // RACE
  }
  return Sum;
}

__global__ void scan(const uint32_t *In, uint32_t *Out, Tiles All) {
  __shared__ int Own;
  __shared__ uint32_t BeforeTile;
  if (threadIdx.x == 0)
    Own = atomicAdd(All.Next, 1);
  __syncthreads();
  const int First = Own * Tile + threadIdx.x * Items;
  uint32_t Values[Items], Sum = 0;
  for (int I = 0; I < Items; ++I)
    Values[I] = Sum += In[First + I];
  const uint32_t Inclusive = scanBlock(Sum);
  if (threadIdx.x == Threads - 1) {
    All.Sums[Own] = Inclusive; // RACE
    publish(&All.States[Own], HasSum);
    BeforeTile = lookBack(All, Own);
    All.Prefixes[Own] = BeforeTile + Inclusive; // RACE
    publish(&All.States[Own], HasPrefix);
  }
  __syncthreads();
  for (int I = 0; I < Items; ++I)
    Out[First + I] = BeforeTile + Inclusive - Sum + Values[I];
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = (Small ? 6 : 8192) * Tile, Rounds = Small ? 2 : 10;
  std::vector<uint32_t> Values(N);
  for (uint32_t &Value : Values)
    Value = draw();
  DeviceArray<uint32_t> In(Values), Out(N);
  DeviceArray<int> Next(1), States(N / Tile);
  DeviceArray<uint32_t> Sums(N / Tile), Prefixes(N / Tile);
  for (int Round = 0; Round < Rounds; ++Round) {
    CHECK(cudaMemset(Next, 0, sizeof(int)));
    CHECK(cudaMemset(States, 0, States.size() * sizeof(int)));
    scan<<<N / Tile, Threads>>>(In, Out, {Next, States, Sums, Prefixes});
  }
  for (int I = 1; I < N; ++I)
    Values[I] += Values[I - 1];
  return finish(Out.download() == Values);
}
