// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Radix sort, least digit first. Of each digit, blocks count how often its
// values occur in their tiles, one block scans the counts, and blocks scatter
// their keys. A tile is scattered in chunks of a key a thread; in a chunk, a
// key's place is found from the lanes that have the same digit and the counts
// of the warps before. The planted variant starts a chunk without a barrier; so
// counts are added up while the next chunk's are written, and two keys may be
// given one place.

#include "Suite.h"

constexpr int Bits = 4, Digits = 1 << Bits;
constexpr int Threads = 256, Warps = Threads / 32, Chunks = 8;
constexpr int Tile = Threads * Chunks, ScanThreads = 1024;

__device__ int digitOf(uint32_t Key, int Shift) {
  return Key >> Shift & (Digits - 1);
}

__global__ void count(int Shift, const uint32_t *Keys, int *Counts) {
  __shared__ int Own[Digits];
  if (threadIdx.x < Digits)
    Own[threadIdx.x] = 0;
  __syncthreads();
  for (int I = threadIdx.x; I < Tile; I += Threads)
    atomicAdd(&Own[digitOf(Keys[blockIdx.x * Tile + I], Shift)], 1);
  __syncthreads();
  if (threadIdx.x < Digits)
    Counts[threadIdx.x * gridDim.x + blockIdx.x] = Own[threadIdx.x];
}

/// Replaces each count by the sum of those before it.
__global__ void scanCounts(int N, int *Counts) {
  __shared__ int Sums[ScanThreads];
  const int T = threadIdx.x, Each = (N + ScanThreads - 1) / ScanThreads;
  const int First = min(T * Each, N), Last = min(First + Each, N);
  int Sum = 0;
  for (int I = First; I < Last; ++I)
    Sum += Counts[I];
  Sums[T] = Sum;
  for (int Step = 1; Step < ScanThreads; Step *= 2) {
    __syncthreads();
    const int Before = T >= Step ? Sums[T - Step] : 0;
    __syncthreads();
    Sums[T] += Before;
  }
  int Place = Sums[T] - Sum;
  for (int I = First; I < Last; ++I) {
    const int Count = Counts[I];
    Counts[I] = Place;
    Place += Count;
  }
}

__global__ void scatter(int Shift, const uint32_t *Keys, const int *Places,
                        uint32_t *Sorted) {
  __shared__ int Next[Digits];              // Where the next key goes.
  __shared__ int WarpCounts[Digits][Warps]; // Of this chunk.
  const int T = threadIdx.x, Warp = T / 32, Lane = T % 32;
  if (T < Digits)
    Next[T] = Places[T * gridDim.x + blockIdx.x];
  for (int Chunk = 0; Chunk < Chunks; ++Chunk) {
    for (int Digit = Lane; Digit < Digits; Digit += 32)
      WarpCounts[Digit][Warp] = 0; // RACE
    __syncwarp();
    const uint32_t Key = Keys[blockIdx.x * Tile + Chunk * Threads + T];
    const int Digit = digitOf(Key, Shift);
    const unsigned Same = __match_any_sync(~0u, Digit);
    const int Before = __popc(Same & ((1u << Lane) - 1));
    if (Before == 0)
      WarpCounts[Digit][Warp] = __popc(Same); // RACE
    __syncthreads();
    int Place = Next[Digit] + Before;
    for (int W = 0; W < Warp; ++W)
      Place += WarpCounts[Digit][W];
    // Wrong counts may lead behind the last place.
    Place = VARIANT(Place, min(Place, int(gridDim.x) * Tile - 1));
    Sorted[Place] = Key; // RACE
    __syncthreads();
    if (T < Digits)
      for (int W = 0; W < Warps; ++W)
        Next[T] += WarpCounts[T][W]; // RACE
    VARIANT(__syncthreads(), (void)0);
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Tiles = Small ? 2 : 8192, Shifts = Small ? 8 : 32;
  std::vector<uint32_t> Keys(Tiles * Tile);
  for (uint32_t &Key : Keys)
    Key = Small ? draw() % 256 : draw();
  DeviceArray<uint32_t> From(Keys), To(Keys.size());
  DeviceArray<int> Counts(Digits * Tiles);
  uint32_t *Now = From, *Next = To;
  for (int Shift = 0; Shift < Shifts; Shift += Bits) {
    count<<<Tiles, Threads>>>(Shift, Now, Counts);
    scanCounts<<<1, ScanThreads>>>(Digits * Tiles, Counts);
    scatter<<<Tiles, Threads>>>(Shift, Now, Counts, Next);
    std::swap(Now, Next);
  }
  return finish(isSorted(From.download(), Keys));
}
