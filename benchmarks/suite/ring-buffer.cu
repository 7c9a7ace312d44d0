// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pipelines of two blocks: the first makes tiles of data and puts them into a
// ring of slots, the second sums them up. Each counts the tiles that it is done
// with, by stores with release, and waits for the other one's count, by loads
// with acquire. All blocks are resident, since the launch is cooperative. In
// the planted variant, the second block gives a slot back without a barrier,
// while some of its threads may still be reading.

#include "Suite.h"
#include <cuda/atomic>

constexpr int Threads = 256, Slots = 2, Neighbours = 16;

struct Ring {
  uint32_t Tiles[Slots][Threads];
  int Filled, Emptied; // How many tiles, since the beginning.
};

using CountRef = cuda::atomic_ref<int, cuda::thread_scope_device>;

/// All threads of the block wait until \p Count is at least \p Least.
__device__ void waitFor(int &Count, int Least) {
  if (threadIdx.x == 0)
    while (CountRef(Count).load(cuda::memory_order_acquire) < Least)
      ;
  __syncthreads();
}

/// What all threads of the block have done is before \p Count is set.
__device__ void setCount(int &Count, int Value) {
  if (threadIdx.x == 0)
    CountRef(Count).store(Value, cuda::memory_order_release);
}

__host__ __device__ uint32_t valueOf(uint32_t Pipeline, uint32_t I) {
  I = (I ^ Pipeline << 20) * 0x85ebca6b;
  return (I ^ I >> 13) * 0xc2b2ae35;
}

__device__ void produce(int Pipeline, int Tiles, Ring &R) {
  for (int Tile = 0; Tile < Tiles; ++Tile) {
    waitFor(R.Emptied, Tile - Slots + 1);
    const uint32_t Value = valueOf(Pipeline, Tile * Threads + threadIdx.x);
    R.Tiles[Tile % Slots][threadIdx.x] = Value; // RACE
    __syncthreads();
    setCount(R.Filled, Tile + 1);
  }
}

__device__ uint32_t consume(int Tiles, Ring &R) {
  uint32_t Sum = 0;
  for (int Tile = 0; Tile < Tiles; ++Tile) {
    waitFor(R.Filled, Tile + 1);
    const uint32_t *Values = R.Tiles[Tile % Slots];
    for (int I = 0; I < Neighbours; ++I)
      Sum = Sum * 31 + Values[(threadIdx.x + I) % Threads]; // RACE
    VARIANT(__syncthreads(), (void)0);
    setCount(R.Emptied, Tile + 1);
  }
  return Sum;
}

__global__ void run(int Tiles, Ring *Rings, uint32_t *Sums) {
  const int Pipeline = blockIdx.x / 2;
  if (blockIdx.x % 2 == 0)
    produce(Pipeline, Tiles, Rings[Pipeline]);
  else
    atomicAdd(&Sums[Pipeline], consume(Tiles, Rings[Pipeline]));
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  int Pipelines = Small ? 2 : 64, Tiles = Small ? 12 : 3000;
  DeviceArray<Ring> Rings(Pipelines);
  DeviceArray<uint32_t> Sums(Pipelines);
  Ring *RingsData = Rings;
  uint32_t *SumsData = Sums;
  void *Args[] = {&Tiles, &RingsData, &SumsData};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(run),
                                    2 * Pipelines, Threads, Args, 0, nullptr));
  const std::vector<uint32_t> Got = Sums.download();
  bool Right = true;
  for (int Pipeline = 0; Pipeline < Pipelines; Pipeline += 32) {
    uint32_t Want = 0;
    for (int T = 0; T < Threads; ++T) {
      uint32_t Sum = 0;
      for (int Tile = 0; Tile < Tiles; ++Tile)
        for (int I = 0; I < Neighbours; ++I)
          Sum =
              Sum * 31 + valueOf(Pipeline, Tile * Threads + (T + I) % Threads);
      Want += Sum;
    }
    Right &= Got[Pipeline] == Want;
  }
  return finish(Right);
}
