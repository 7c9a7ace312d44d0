// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merge sort: blocks sort tiles in shared memory, then a launch for each length
// of sorted runs merges them in pairs. A thread finds the place of its key by a
// binary search in the other run of the pair. Of equal keys, those of the first
// run go first; in the planted variant they go to the same place when they are
// not in one tile.

#include "Suite.h"

constexpr int Tile = 256;

/// How many keys of the sorted \p Run are less than \p Key or, with OrEqual,
/// equal to it.
__device__ int countBefore(const uint32_t *Run, int N, uint32_t Key,
                           bool OrEqual) {
  int Low = 0, High = N;
  while (Low < High) {
    const int Middle = (Low + High) / 2;
    if (Run[Middle] < Key || (OrEqual && Run[Middle] == Key))
      Low = Middle + 1;
    else
      High = Middle;
  }
  return Low;
}

__global__ void sortTiles(uint32_t *Data) {
  __shared__ uint32_t Keys[2][Tile];
  const int T = threadIdx.x;
  uint32_t *Own = Data + blockIdx.x * Tile;
  int From = 0;
  Keys[From][T] = Own[T];
  __syncthreads();
  for (int Length = 1; Length < Tile; Length *= 2) {
    const bool InSecond = T & Length;
    const int Pair = T & ~(2 * Length - 1), Other = Pair + !InSecond * Length;
    const uint32_t Key = Keys[From][T];
    const int Place = Pair + T % Length +
                      countBefore(&Keys[From][Other], Length, Key, InSecond);
    Keys[1 - From][Place] = Key;
    From = 1 - From;
    __syncthreads();
  }
  Own[T] = Keys[From][T];
}

__global__ void mergeRuns(const uint32_t *From, uint32_t *To, int Length) {
  const int I = blockIdx.x * Tile + threadIdx.x;
  const bool InSecond = I & Length;
  const int Pair = I & ~(2 * Length - 1), Other = Pair + !InSecond * Length;
  const uint32_t Key = From[I];
  const int Place =
      Pair + I % Length +
      countBefore(From + Other, Length, Key, VARIANT(InSecond, false));
  To[Place] = Key; // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1 << 11 : 1 << 23;
  std::vector<uint32_t> Values(N);
  for (uint32_t &Value : Values)
    Value = draw() % (N / 4);
  DeviceArray<uint32_t> Data(Values), Room(N);
  uint32_t *From = Data, *To = Room;
  sortTiles<<<N / Tile, Tile>>>(Data);
  for (int Length = Tile; Length < N; Length *= 2) {
    mergeRuns<<<N / Tile, Tile>>>(From, To, Length);
    std::swap(From, To);
  }
  return finish(isSorted((From == Data ? Data : Room).download(), Values));
}
