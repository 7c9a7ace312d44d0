// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inclusive prefix sums by three kernels: each block scans its tile in shared
// memory, by steps of doubling length between two buffers; one block scans the
// sums of the tiles; and each block adds what is in front of its tile. Results
// are scanned again, several times. The planted variant has one buffer.

#include "Suite.h"

constexpr int Threads = 1024, Items = 4, Tile = Threads * Items;

/// The sum of the values of this thread and of those before it in the block.
__device__ uint32_t scanBlock(uint32_t Value) {
  __shared__ uint32_t Sums[2][Threads];
  const int T = threadIdx.x;
  int From = 0;
  Sums[From][T] = Value;
  __syncthreads();
  for (int Step = 1; Step < Threads; Step *= 2) {
    const int To = VARIANT(1 - From, From);
    uint32_t Sum = Sums[From][T];
    if (T >= Step)
      Sum += Sums[From][T - Step]; // RACE
    Sums[To][T] = Sum;             // RACE
    From = To;
    __syncthreads();
  }
  return Sums[From][T];
}

__global__ void scanTiles(uint32_t *Data, uint32_t *TileSums) {
  uint32_t *Own = Data + blockIdx.x * Tile + threadIdx.x * Items;
  uint32_t Values[Items], Sum = 0;
  for (int I = 0; I < Items; ++I)
    Values[I] = Sum += Own[I];
  const uint32_t Before = scanBlock(Sum) - Sum;
  for (int I = 0; I < Items; ++I)
    Own[I] = Before + Values[I];
  if (threadIdx.x == Threads - 1)
    TileSums[blockIdx.x] = Before + Sum;
}

/// One block; there are no more tiles than threads.
__global__ void scanTileSums(int Tiles, uint32_t *TileSums) {
  const bool Mine = int(threadIdx.x) < Tiles;
  const uint32_t Sum = scanBlock(Mine ? TileSums[threadIdx.x] : 0);
  if (Mine)
    TileSums[threadIdx.x] = Sum;
}

__global__ void addTileSums(uint32_t *Data, const uint32_t *TileSums) {
  if (blockIdx.x == 0)
    return;
  const uint32_t Before = TileSums[blockIdx.x - 1];
  for (int I = threadIdx.x; I < Tile; I += Threads)
    Data[blockIdx.x * Tile + I] += Before;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Tiles = Small ? 2 : 1024, Rounds = Small ? 1 : 40;
  std::vector<uint32_t> Values(Tiles * Tile);
  for (uint32_t &Value : Values)
    Value = draw();
  DeviceArray<uint32_t> Data(Values), TileSums(Tiles);
  for (int Round = 0; Round < Rounds; ++Round) {
    scanTiles<<<Tiles, Threads>>>(Data, TileSums);
    scanTileSums<<<1, Threads>>>(Tiles, TileSums);
    addTileSums<<<Tiles, Threads>>>(Data, TileSums);
  }
  for (int Round = 0; Round < Rounds; ++Round)
    for (size_t I = 1; I < Values.size(); ++I)
      Values[I] += Values[I - 1];
  return finish(Data.download() == Values);
}
