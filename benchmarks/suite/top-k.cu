// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The greatest keys of an array. A block goes through its part in tiles: it
// sorts the best keys so far and new ones in shared memory and keeps the best.
// The last block to end, by a counter, does the same with the best keys of all
// blocks. The planted variant has no fence between a block's keys and counter.
//
// UNSEEN: collider: the kernel has fences, and each key is stored long before

#include "Suite.h"
#include <functional>

constexpr int Best = 16, Tile = 256, Threads = Tile / 2;

/// Bitonic sort of Tile keys, the greatest first.
__device__ void sortDown(uint32_t *Keys) {
  for (int Size = 2; Size <= Tile; Size *= 2)
    for (int Step = Size / 2; Step > 0; Step /= 2) {
      __syncthreads();
      const int I = 2 * threadIdx.x - (threadIdx.x & (Step - 1));
      const uint32_t A = Keys[I], B = Keys[I + Step];
      const bool Down = !(I & Size);
      Keys[I] = Down ? max(A, B) : min(A, B);
      Keys[I + Step] = Down ? min(A, B) : max(A, B);
    }
  __syncthreads();
}

/// The first keys in shared memory become the greatest of the data.
__device__ void keepBest(const uint32_t *Data, int N, uint32_t *Keys) {
  if (threadIdx.x < Best)
    Keys[threadIdx.x] = 0;
  for (int Begin = 0; Begin < N; Begin += Tile - Best) {
    for (int I = threadIdx.x; I < Tile - Best; I += Threads)
      Keys[Best + I] = Begin + I < N ? Data[Begin + I] : 0; // RACE
    sortDown(Keys);
  }
}

__global__ void findBest(int Part, const uint32_t *Data, uint32_t *BlockKeys,
                         unsigned *Ended, uint32_t *Result) {
  __shared__ uint32_t Keys[Tile];
  __shared__ bool IsLast;
  keepBest(Data + blockIdx.x * Part, Part, Keys);
  if (threadIdx.x < Best)
    BlockKeys[blockIdx.x * Best + threadIdx.x] = Keys[threadIdx.x]; // RACE
  __syncthreads();
  if (threadIdx.x == 0) {
    VARIANT(__threadfence(), (void)0);
    IsLast = atomicAdd(Ended, 1) == gridDim.x - 1;
    if (IsLast)
      __threadfence();
  }
  __syncthreads();
  if (!IsLast)
    return;
  keepBest(BlockKeys, gridDim.x * Best, Keys);
  if (threadIdx.x < Best)
    Result[threadIdx.x] = Keys[threadIdx.x];
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Blocks = Small ? 3 : 1024, Part = Small ? 300 : 1 << 14;
  const int Rounds = Small ? 1 : 10;
  std::vector<uint32_t> Values(Blocks * Part);
  for (uint32_t &Value : Values)
    Value = draw();
  DeviceArray<uint32_t> Data(Values), BlockKeys(Blocks * Best), Result(Best);
  DeviceArray<unsigned> Ended(1);
  for (int Round = 0; Round < Rounds; ++Round) {
    CHECK(cudaMemset(Ended, 0, sizeof(unsigned)));
    findBest<<<Blocks, Threads>>>(Part, Data, BlockKeys, Ended, Result);
  }
  std::partial_sort(Values.begin(), Values.begin() + Best, Values.end(),
                    std::greater<uint32_t>());
  Values.resize(Best);
  return finish(Result.download() == Values);
}
