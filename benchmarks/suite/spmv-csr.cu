// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Power iteration: a sparse matrix in rows times a vector, again and again. A
// warp multiplies a row and adds its lanes' sums by shuffles. The planted
// variant lets every lane store the result, of which the first lane's alone is
// complete.

#include "Suite.h"

constexpr int Threads = 256, RowsPerBlock = Threads / 32;

struct Matrix {
  const int *Begins, *Columns;
  const float *Values;
};

__global__ void multiply(int Rows, Matrix A, const float *X, float *Y) {
  const int Row = blockIdx.x * RowsPerBlock + threadIdx.x / 32;
  const int Lane = threadIdx.x % 32;
  if (Row >= Rows)
    return;
  float Sum = 0;
  for (int I = A.Begins[Row] + Lane; I < A.Begins[Row + 1]; I += 32)
    Sum += A.Values[I] * X[A.Columns[I]];
  for (int Distance = 16; Distance > 0; Distance /= 2)
    Sum += __shfl_down_sync(~0u, Sum, Distance);
  if (VARIANT(Lane == 0, true))
    Y[Row] = Sum; // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Rows = Small ? 199 : 199999, Steps = Small ? 3 : 40;
  Graph G = randomGraph(Rows, 40);
  std::vector<float> Weights = drawUnits(G.Ends.size());
  for (int Row = 0; Row < Rows; ++Row) {
    float Sum = 0;
    for (int I = G.Begins[Row]; I < G.Begins[Row + 1]; ++I)
      Sum += Weights[I];
    for (int I = G.Begins[Row]; I < G.Begins[Row + 1]; ++I)
      Weights[I] /= Sum;
  }
  DeviceArray<int> Begins(G.Begins), Columns(G.Ends);
  DeviceArray<float> Values(Weights), A(drawUnits(Rows)), B(Rows);
  float *X = A, *Y = B;
  for (int Step = 0; Step < Steps; ++Step, std::swap(X, Y))
    multiply<<<(Rows + RowsPerBlock - 1) / RowsPerBlock, Threads>>>(
        Rows, {Begins, Columns, Values}, X, Y);
  const std::vector<float> Last = (X == A ? A : B).download();
  const std::vector<float> Before = (Y == A ? A : B).download();
  bool Right = true;
  for (int Row = 0; Row < Rows; ++Row) {
    double Sum = 0;
    for (int I = G.Begins[Row]; I < G.Begins[Row + 1]; ++I)
      Sum += Weights[I] * Before[G.Ends[I]];
    Right &= isNear(Last[Row], Sum);
  }
  return finish(Right);
}
