// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solves a system of linear equations: a launch for each column eliminates it
// from the rows below, a thread for each element right of the column, and then
// a launch for each row substitutes its unknown in those above. The planted
// variant eliminates the column itself, too: it overwrites the elements from
// which the other threads of their rows compute factors.

#include "Suite.h"

constexpr int ThreadsX = 32, ThreadsY = 8, Threads = 128;

/// The right side is column \p N of the rows.
__global__ void eliminate(int N, int Pivot, float *Rows) {
  const int Column =
      Pivot + VARIANT(1, 0) + blockIdx.x * ThreadsX + threadIdx.x;
  const int Row = Pivot + 1 + blockIdx.y * ThreadsY + threadIdx.y;
  if (Column > N || Row >= N)
    return;
  float *Own = Rows + Row * (N + 1);
  const float *Top = Rows + Pivot * (N + 1);
  const float Factor = Own[Pivot] / Top[Pivot]; // RACE
  Own[Column] -= Factor * Top[Column];          // RACE
}

__global__ void substitute(int N, int Pivot, float *Rows, float *Unknowns) {
  const int Row = blockIdx.x * Threads + threadIdx.x;
  if (Row > Pivot)
    return;
  const float *Bottom = Rows + Pivot * (N + 1);
  const float Unknown = Bottom[N] / Bottom[Pivot];
  if (Row == Pivot)
    Unknowns[Pivot] = Unknown;
  else
    Rows[Row * (N + 1) + N] -= Rows[Row * (N + 1) + Pivot] * Unknown;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 40 : 480;
  const std::vector<float> Want = drawUnits(N);
  // Large elements on the diagonal make it safe to take them as pivots.
  std::vector<float> Host = drawUnits(N * (N + 1));
  for (int Row = 0; Row < N; ++Row) {
    float *Elements = &Host[Row * (N + 1)];
    Elements[Row] += N;
    double Side = 0;
    for (int Column = 0; Column < N; ++Column)
      Side += double(Elements[Column]) * Want[Column];
    Elements[N] = Side;
  }
  DeviceArray<float> Rows(Host), Unknowns(N);
  for (int Pivot = 0; Pivot < N - 1; ++Pivot) {
    const int Left = N - Pivot; // columns, and one row more than there are
    const dim3 Grid((Left + ThreadsX - 1) / ThreadsX,
                    (Left + ThreadsY - 1) / ThreadsY);
    eliminate<<<Grid, dim3(ThreadsX, ThreadsY)>>>(N, Pivot, Rows);
  }
  for (int Pivot = N - 1; Pivot >= 0; --Pivot)
    substitute<<<Pivot / Threads + 1, Threads>>>(N, Pivot, Rows, Unknowns);
  const std::vector<float> Got = Unknowns.download();

  bool Right = true;
  for (int I = 0; I < N; ++I)
    Right = Right && isNear(Got[I], Want[I]);
  return finish(Right);
}
