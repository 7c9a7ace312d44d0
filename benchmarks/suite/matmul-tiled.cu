// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Product of two square matrices: a block computes a tile of the result, a
// thread one element of it, from tiles of both factors in shared memory. The
// planted variant leaves out the barrier between filling and reading them.

#include "Suite.h"

constexpr int Tile = 32;

__global__ void multiply(int N, const float *A, const float *B, float *C) {
  __shared__ float TileA[Tile][Tile], TileB[Tile][Tile];
  const int TX = threadIdx.x, Column = blockIdx.x * Tile + TX;
  const int TY = threadIdx.y, Row = blockIdx.y * Tile + TY;
  float Sum = 0;
  for (int First = 0; First < N; First += Tile) {
    TileA[TY][TX] = A[Row * N + First + TX];      // RACE
    TileB[TY][TX] = B[(First + TY) * N + Column]; // RACE
    VARIANT(__syncthreads(), (void)0);
    for (int K = 0; K < Tile; ++K)
      Sum += TileA[TY][K] * TileB[K][TX]; // RACE
    __syncthreads();
  }
  C[Row * N + Column] = Sum;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 64 : 2048;
  const std::vector<float> HostA = drawUnits(N * N), HostB = drawUnits(N * N);
  DeviceArray<float> A(HostA), B(HostB), C(N * N);
  const dim3 Grid(N / Tile, N / Tile), Threads(Tile, Tile);
  multiply<<<Grid, Threads>>>(N, A, B, C);
  const std::vector<float> Got = C.download();

  bool Right = true;
  for (int Sample = 0; Sample < 1024; ++Sample) {
    const int Row = draw() % N, Column = draw() % N;
    double Want = 0;
    for (int K = 0; K < N; ++K)
      Want += double(HostA[Row * N + K]) * HostB[K * N + Column];
    Right = Right && isNear(Got[Row * N + Column], Want);
  }
  return finish(Right);
}
