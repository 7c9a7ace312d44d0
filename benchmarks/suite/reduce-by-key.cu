// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of the values of each run of equal keys. Blocks count the runs that
// begin in their tiles, one block scans the counts, and blocks add up runs in
// shared memory. A run that may reach into another tile, the first or the last,
// is added to the result by an atomic, any other is stored. The planted variant
// stores the last, too.

#include "Suite.h"

constexpr int Threads = 512, Warps = Threads / 32;

__device__ bool beginsRun(const int *Keys, int I) {
  return I == 0 || Keys[I] != Keys[I - 1];
}

__global__ void countRuns(const int *Keys, int *Counts) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  const int Count = __syncthreads_count(beginsRun(Keys, I));
  if (threadIdx.x == 0)
    Counts[blockIdx.x] = Count;
}

/// One block; each count becomes the sum of those before it.
__global__ void scanCounts(int N, int *Counts) {
  __shared__ int Sums[Threads];
  const int T = threadIdx.x, Each = (N + Threads - 1) / Threads;
  const int First = min(T * Each, N), Last = min(First + Each, N);
  int Sum = 0;
  for (int I = First; I < Last; ++I)
    Sum += Counts[I];
  Sums[T] = Sum;
  __syncthreads();
  int Before = 0;
  for (int I = 0; I < T; ++I)
    Before += Sums[I];
  for (int I = First; I < Last; ++I) {
    const int Count = Counts[I];
    Counts[I] = Before;
    Before += Count;
  }
}

__global__ void reduce(const int *Keys, const unsigned *Values,
                       const int *RunsBefore, int *RunKeys, unsigned *Sums) {
  __shared__ unsigned Own[Threads + 1]; // 0: a run that began before the tile.
  __shared__ int WarpRuns[Warps];
  const int T = threadIdx.x, I = blockIdx.x * Threads + T;
  const int Before = RunsBefore[blockIdx.x];
  const bool Begins = beginsRun(Keys, I);
  const unsigned Lanes = __ballot_sync(~0u, Begins);
  if (T % 32 == 0)
    WarpRuns[T / 32] = __popc(Lanes);
  for (int Run = T; Run <= Threads; Run += Threads)
    Own[Run] = 0;
  const bool AnyBefore = !__syncthreads_or(T == 0 && Begins);
  int Run = __popc(Lanes & (2u << T % 32) - 1), Runs = 0;
  for (int Warp = 0; Warp < Warps; ++Warp) {
    Run += Warp < T / 32 ? WarpRuns[Warp] : 0;
    Runs += WarpRuns[Warp];
  }
  atomicAdd(&Own[Run], Values[I]);
  if (Begins)
    RunKeys[Before + Run - 1] = Keys[I];
  __syncthreads();
  for (Run = T; Run <= Runs; Run += Threads) {
    if (Run == 0 && !AnyBefore)
      continue;
    unsigned &Sum = Sums[Before + Run - 1];
    if (Run == 0 || VARIANT(Run == Runs, false))
      atomicAdd(&Sum, Own[Run]); // RACE
    else
      Sum = Own[Run]; // RACE
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Tiles = Small ? 4 : 1 << 15, N = Tiles * Threads;
  const int Rounds = Small ? 1 : 20;
  std::vector<int> AllKeys(N), WantKeys;
  std::vector<unsigned> AllValues(N), WantSums;
  for (int I = 0; I < N; ++I) {
    const uint32_t Drawn = draw();
    if (I == 0 || Drawn % 16 == 0) {
      WantKeys.push_back(I == 0 ? 0 : AllKeys[I - 1] + 1 + Drawn / 16 % 16);
      WantSums.push_back(0);
    }
    AllKeys[I] = WantKeys.back();
    WantSums.back() += AllValues[I] = Drawn >> 8;
  }
  DeviceArray<int> Keys(AllKeys), Counts(Tiles), RunKeys(WantKeys.size());
  DeviceArray<unsigned> Values(AllValues), Sums(WantSums.size());
  for (int Round = 0; Round < Rounds; ++Round) {
    CHECK(cudaMemset(Sums, 0, Sums.size() * sizeof(unsigned)));
    countRuns<<<Tiles, Threads>>>(Keys, Counts);
    scanCounts<<<1, Threads>>>(Tiles, Counts);
    reduce<<<Tiles, Threads>>>(Keys, Values, Counts, RunKeys, Sums);
  }
  return finish(RunKeys.download() == WantKeys && Sums.download() == WantSums);
}
