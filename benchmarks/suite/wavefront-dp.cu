// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Smith-Waterman scores of pairs of sequences, a pair per block. A thread has a
// letter of the first sequence, so a row of the table, and the block goes
// through the table by its diagonals, of which the last three are in shared
// memory. The planted variant has no barrier between diagonals.

#include "Suite.h"

constexpr int Longest = 256;
constexpr int Match = 3, Mismatch = -2, Gap = -2;

__global__ void align(const char *Firsts, const char *Seconds, int *Scores) {
  __shared__ char Second[Longest];
  __shared__ int Diagonals[3][Longest + 1]; // By row; row 0 is all zero.
  __shared__ int Best;
  const int Length = blockDim.x, Row = threadIdx.x + 1;
  const char Letter = Firsts[blockIdx.x * Length + threadIdx.x];
  Second[threadIdx.x] = Seconds[blockIdx.x * Length + threadIdx.x];
  for (int(&Diagonal)[Longest + 1] : Diagonals)
    Diagonal[Row] = 0;
  if (threadIdx.x < 3)
    Diagonals[threadIdx.x][0] = 0;
  if (threadIdx.x == 0)
    Best = 0;
  __syncthreads();
  int OwnBest = 0;
  for (int D = 2; D <= 2 * Length; ++D) {
    const int *Last = Diagonals[(D - 1) % 3],
              *BeforeLast = Diagonals[(D - 2) % 3];
    const int Column = D - Row;
    if (Column >= 1 && Column <= Length) {
      const int Pair = Letter == Second[Column - 1] ? Match : Mismatch;
      int Score = max(0, BeforeLast[Row - 1] + Pair); // RACE
      Score = max(Score, Last[Row - 1] + Gap);        // RACE
      Score = max(Score, Last[Row] + Gap);
      Diagonals[D % 3][Row] = Score; // RACE
      OwnBest = max(OwnBest, Score);
    }
    VARIANT(__syncthreads(), (void)0);
  }
  atomicMax(&Best, OwnBest);
  __syncthreads();
  if (threadIdx.x == 0)
    Scores[blockIdx.x] = Best;
}

int scoreOf(int Length, const char *First, const char *Second) {
  std::vector<int> Last(Length + 1), Now(Length + 1);
  int Best = 0;
  for (int I = 0; I < Length; ++I) {
    for (int J = 0; J < Length; ++J) {
      const int Pair = First[I] == Second[J] ? Match : Mismatch;
      Now[J + 1] =
          std::max({0, Last[J] + Pair, Last[J + 1] + Gap, Now[J] + Gap});
      Best = std::max(Best, Now[J + 1]);
    }
    std::swap(Last, Now);
  }
  return Best;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Pairs = Small ? 3 : 65536, Length = Small ? 64 : Longest;
  std::vector<char> First(Pairs * Length), Second(Pairs * Length);
  for (size_t I = 0; I < First.size(); ++I) {
    const uint32_t Drawn = draw();
    First[I] = "ACGT"[Drawn % 4];
    Second[I] = Drawn >> 8 & 3 ? First[I] : "ACGT"[Drawn >> 16 & 3];
  }
  DeviceArray<char> Firsts(First), Seconds(Second);
  DeviceArray<int> Scores(Pairs);
  align<<<Pairs, Length>>>(Firsts, Seconds, Scores);
  const std::vector<int> Got = Scores.download();
  bool Right = true;
  for (int I = 0; I < Pairs; I += Small ? 1 : 512)
    Right &= Got[I] == scoreOf(Length, &First[I * Length], &Second[I * Length]);
  return finish(Right);
}
