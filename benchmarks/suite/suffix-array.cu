// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suffix array by doubling. A suffix's rank by its first letters, and the rank
// of what follows these, are its rank by twice as many letters, once all such
// pairs are sorted. Bitonic sort makes a launch for each step. Blocks count the
// different ranks; with as many as suffixes, the order is complete. The planted
// variant counts without an atomic.

#include "Suite.h"

constexpr int Threads = 128;

/// Two ranks and, in as many bits as it needs, the suffix that has them.
using Key = uint64_t;

__global__ void makeKeys(int Bits, int Length, const int *Ranks, Key *Keys) {
  const int N = 1 << Bits, I = blockIdx.x * Threads + threadIdx.x;
  const Key First = Ranks[I];
  const Key Second = I + Length < N ? Ranks[I + Length] + 1 : 0;
  Keys[I] = First << (2 * Bits + 1) | Second << Bits | I;
}

__global__ void sortStep(Key *Keys, int Size, int Step) {
  const int Pair = blockIdx.x * Threads + threadIdx.x;
  const int First = 2 * Pair - (Pair & (Step - 1)), Second = First + Step;
  const Key A = Keys[First], B = Keys[Second];
  if ((A > B) == !(First & Size)) {
    Keys[First] = B;
    Keys[Second] = A;
  }
}

/// Equal pairs of ranks are ranked by the place of the first of them.
__global__ void rankSuffixes(int Bits, const Key *Keys, int *Ranks,
                             int *Different) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  const Key Pair = Keys[I] >> Bits;
  int Low = 0, High = I;
  while (Low < High) {
    const int Middle = (Low + High) / 2;
    if (Keys[Middle] >> Bits < Pair)
      Low = Middle + 1;
    else
      High = Middle;
  }
  Ranks[Keys[I] & ((1 << Bits) - 1)] = Low;
  const int Count = __syncthreads_count(Low == I);
  if (threadIdx.x == 0)
    VARIANT(atomicAdd(Different, Count), *Different += Count); // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Bits = Small ? 9 : 18, N = 1 << Bits;
  std::vector<int> Letters(N);
  for (int &Letter : Letters)
    Letter = draw() % 4;
  DeviceArray<int> Ranks(Letters), Different(1);
  DeviceArray<Key> Keys(N);
  int Count = 0;
  for (int Length = 1; Length < N && Count < N; Length *= 2) {
    makeKeys<<<N / Threads, Threads>>>(Bits, Length, Ranks, Keys);
    for (int Size = 2; Size <= N; Size *= 2)
      for (int Step = Size / 2; Step > 0; Step /= 2)
        sortStep<<<N / 2 / Threads, Threads>>>(Keys, Size, Step);
    CHECK(cudaMemset(Different, 0, sizeof(int)));
    rankSuffixes<<<N / Threads, Threads>>>(Bits, Keys, Ranks, Different);
    CHECK(cudaMemcpy(&Count, Different, sizeof(int), cudaMemcpyDeviceToHost));
  }
  const std::vector<int> Got = Ranks.download();
  std::vector<int> Suffixes(N, -1);
  for (int I = 0; I < N; ++I)
    Suffixes[Got[I]] = I;
  bool Right = std::count(Suffixes.begin(), Suffixes.end(), -1) == 0;
  for (int I = 1; I < N && Right; ++I)
    Right = std::lexicographical_compare(
        Letters.begin() + Suffixes[I - 1], Letters.end(),
        Letters.begin() + Suffixes[I], Letters.end());
  return finish(Right);
}
