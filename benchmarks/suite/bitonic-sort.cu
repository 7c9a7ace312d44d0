// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bitonic sort. Steps within a tile are made by one block in shared memory,
// longer ones by a launch each. A thread compares two keys; a warp's keys are
// neighbours, so that steps of fewer than 32 keys need no barrier of the block.
// The planted variant leaves out the barrier in front of a step of 32 keys,
// too.

#include "Suite.h"

constexpr int Threads = 256, Tile = 2 * Threads;

/// The first of the two keys that are Step apart and the Pair-th such pair.
__device__ int firstOf(int Pair, int Step) {
  return 2 * Pair - (Pair & (Step - 1));
}

__device__ void putInOrder(uint32_t &First, uint32_t &Second, bool Up) {
  const uint32_t A = First, B = Second; // RACE
  First = Up ? min(A, B) : max(A, B);   // RACE
  Second = Up ? max(A, B) : min(A, B);  // RACE
}

/// Sorts runs of Size keys up and down in turn, by those of the steps from
/// Size / 2 down to 1 that stay within a tile.
__device__ void mergeInTile(uint32_t *Keys, int Size) {
  const int Pair = blockIdx.x * Threads + threadIdx.x;
  for (int Step = min(Size, Tile) / 2; Step > 0; Step /= 2) {
    if (Step >= VARIANT(32, 64))
      __syncthreads();
    else
      __syncwarp();
    const int First = firstOf(threadIdx.x, Step);
    putInOrder(Keys[First], Keys[First + Step], !(2 * Pair & Size));
  }
}

__device__ void load(const uint32_t *From, uint32_t *Keys) {
  Keys[threadIdx.x] = From[threadIdx.x];
  Keys[threadIdx.x + Threads] = From[threadIdx.x + Threads];
  __syncthreads();
}

__device__ void store(const uint32_t *Keys, uint32_t *To) {
  __syncthreads();
  To[threadIdx.x] = Keys[threadIdx.x];
  To[threadIdx.x + Threads] = Keys[threadIdx.x + Threads];
}

__global__ void sortTiles(uint32_t *Data) {
  __shared__ uint32_t Keys[Tile];
  load(Data + blockIdx.x * Tile, Keys);
  for (int Size = 2; Size <= Tile; Size *= 2)
    mergeInTile(Keys, Size);
  store(Keys, Data + blockIdx.x * Tile);
}

__global__ void mergeTiles(uint32_t *Data, int Size) {
  __shared__ uint32_t Keys[Tile];
  load(Data + blockIdx.x * Tile, Keys);
  mergeInTile(Keys, Size);
  store(Keys, Data + blockIdx.x * Tile);
}

__global__ void mergeStep(uint32_t *Data, int Size, int Step) {
  const int Pair = blockIdx.x * Threads + threadIdx.x;
  const int First = firstOf(Pair, Step);
  putInOrder(Data[First], Data[First + Step], !(2 * Pair & Size));
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1 << 10 : 1 << 23, Blocks = N / Tile;
  std::vector<uint32_t> Values(N);
  for (uint32_t &Value : Values)
    Value = draw();
  DeviceArray<uint32_t> Data(Values);
  sortTiles<<<Blocks, Threads>>>(Data);
  for (int Size = 2 * Tile; Size <= N; Size *= 2) {
    for (int Step = Size / 2; Step >= Tile; Step /= 2)
      mergeStep<<<Blocks, Threads>>>(Data, Size, Step);
    mergeTiles<<<Blocks, Threads>>>(Data, Size);
  }
  return finish(isSorted(Data.download(), Values));
}
