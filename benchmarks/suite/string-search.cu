// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts how often each of several patterns is in a text. Patterns are in
// constant memory; a block has its tile of the text in shared memory, and
// behind it the letters of the next tile that a pattern may reach into. The
// planted variant loads those behind the barrier.

#include "Suite.h"

constexpr int Threads = 256, Tile = 4 * Threads;
constexpr int Patterns = 16, Length = 10;

__constant__ char PatternLetters[Patterns][Length];

__device__ bool matches(const char *Text, const char *Pattern) {
  for (int I = 0; I < Length; ++I)
    if (Text[I] != Pattern[I]) // RACE
      return false;
  return true;
}

__global__ void search(const char *Text, unsigned *Counts) {
  __shared__ char Letters[Tile + Length - 1];
  __shared__ unsigned Own[Patterns];
  const char *TileText = Text + blockIdx.x * Tile;
  const int T = threadIdx.x;
  if (T < Patterns)
    Own[T] = 0;
  for (int I = T; I < Tile; I += Threads)
    Letters[I] = TileText[I];
  VARIANT((void)0, __syncthreads());
  if (T < Length - 1)
    Letters[Tile + T] = TileText[Tile + T]; // RACE
  VARIANT(__syncthreads(), (void)0);
  for (int I = T; I < Tile; I += Threads)
    for (int P = 0; P < Patterns; ++P)
      if (matches(&Letters[I], PatternLetters[P]))
        atomicAdd(&Own[P], 1);
  __syncthreads();
  if (T < Patterns && Own[T])
    atomicAdd(&Counts[T], Own[T]);
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = (Small ? 2 : 8192) * Tile, Rounds = Small ? 1 : 12;
  std::vector<char> Letters(N + Length); // The end is no letter.
  for (int I = 0; I < N; ++I)
    Letters[I] = "ACGT"[draw() % 4];
  DeviceArray<char> Text(Letters);
  DeviceArray<unsigned> Counts(Patterns);
  char Wanted[Patterns][Length];
  for (int Round = 0; Round < Rounds; ++Round) {
    for (char(&Pattern)[Length] : Wanted)
      memcpy(Pattern, &Letters[draw() % (N - Length)], Length);
    CHECK(cudaMemcpyToSymbol(PatternLetters, Wanted, sizeof(Wanted)));
    CHECK(cudaMemset(Counts, 0, Patterns * sizeof(unsigned)));
    search<<<N / Tile, Threads>>>(Text, Counts);
  }
  std::vector<unsigned> Want(Patterns);
  for (int P = 0; P < Patterns; P += 4)
    for (int I = 0; I < N; ++I)
      Want[P] += !memcmp(&Letters[I], Wanted[P], Length);
  const std::vector<unsigned> Got = Counts.download();
  bool Right = true;
  for (int P = 0; P < Patterns; P += 4)
    Right &= Got[P] == Want[P];
  return finish(Right);
}
