// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Product of two matrices: a block computes a tile of 64 by 64, a thread
// 4 by 4 elements of it in registers. Slices of both factors pass through two
// buffers in shared memory in turn, so a barrier for each slice is enough. The
// planted variant has one buffer and still one barrier.

#include "Suite.h"

constexpr int Tile = 64, Depth = 8, Own = 4, Threads = Tile / Own;

__global__ void multiply(int N, int Inner, const float *A, const float *B,
                         float *C) {
  __shared__ float SliceA[2][Depth][Tile + 1], SliceB[2][Depth][Tile];
  const int Row = blockIdx.y * Tile, Column = blockIdx.x * Tile;
  const int TX = threadIdx.x, TY = threadIdx.y, T = TY * Threads + TX;
  float Sums[Own][Own] = {};
  for (int First = 0; First < Inner; First += Depth) {
    const int Buffer = VARIANT(First / Depth % 2, 0);
    for (int I = T; I < Tile * Depth; I += Threads * Threads) {
      const int K = I % Depth, R = I / Depth;
      SliceA[Buffer][K][R] = A[(Row + R) * Inner + First + K]; // RACE
    }
    for (int I = T; I < Tile * Depth; I += Threads * Threads) {
      const int K = I / Tile, Col = I % Tile;
      SliceB[Buffer][K][Col] = B[(First + K) * N + Column + Col]; // RACE
    }
    __syncthreads();
    for (int K = 0; K < Depth; ++K) {
      float FromA[Own], FromB[Own];
      for (int I = 0; I < Own; ++I) {
        FromA[I] = SliceA[Buffer][K][TY + I * Threads]; // RACE
        FromB[I] = SliceB[Buffer][K][TX + I * Threads]; // RACE
      }
      for (int I = 0; I < Own; ++I)
        for (int J = 0; J < Own; ++J)
          Sums[I][J] += FromA[I] * FromB[J];
    }
  }
  for (int I = 0; I < Own; ++I)
    for (int J = 0; J < Own; ++J)
      C[(Row + TY + I * Threads) * N + Column + TX + J * Threads] = Sums[I][J];
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 128 : 2048, Inner = Small ? 24 : 2048;
  const std::vector<float> HostA = drawUnits(N * Inner),
                           HostB = drawUnits(Inner * N);
  DeviceArray<float> A(HostA), B(HostB), C(N * N);
  const dim3 Grid(N / Tile, N / Tile), Block(Threads, Threads);
  for (int Round = 0; Round < (Small ? 1 : 3); ++Round)
    multiply<<<Grid, Block>>>(N, Inner, A, B, C);
  const std::vector<float> Got = C.download();

  bool Right = true;
  for (int Sample = 0; Sample < 1024; ++Sample) {
    const int Row = draw() % N, Column = draw() % N;
    double Want = 0;
    for (int K = 0; K < Inner; ++K)
      Want += double(HostA[Row * Inner + K]) * HostB[K * N + Column];
    Right = Right && isNear(Got[Row * N + Column], Want);
  }
  return finish(Right);
}
