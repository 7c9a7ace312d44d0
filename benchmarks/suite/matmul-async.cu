// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Product of two matrices: a block computes a tile of 64 by 64, a thread 4 by 4
// elements of it. While the threads work on one slice of both factors in shared
// memory, the next comes by asynchronous copies. The planted variant waits for
// one copy less than it needs, so it reads a slice that may be on its way.

#include "Suite.h"
#include <cuda_pipeline.h>

constexpr int Tile = 64, Depth = 16, Own = 4, Threads = Tile / Own;
constexpr int Stages = 2, Pad = 4; // Rows keep the alignment of float4.

struct Slice {
  float A[Tile][Depth + Pad];
  float B[Depth][Tile];
};

/// Begins to copy the slice that starts at \p First, 16 bytes of each factor by
/// each thread.
__device__ void fetch(Slice &To, int N, int Inner, const float *A,
                      const float *B, int First) {
  const int Row = blockIdx.y * Tile, Column = blockIdx.x * Tile;
  const int I = (threadIdx.y * Threads + threadIdx.x) * 4;
  float *ToA = &To.A[I / Depth][I % Depth], *ToB = &To.B[I / Tile][I % Tile];
  const float *FromA = &A[(Row + I / Depth) * Inner + First + I % Depth];
  const float *FromB = &B[(First + I / Tile) * N + Column + I % Tile];
  __pipeline_memcpy_async(ToA, FromA, sizeof(float4)); // RACE
  __pipeline_memcpy_async(ToB, FromB, sizeof(float4)); // RACE
}

__global__ void multiply(int N, int Inner, const float *A, const float *B,
                         float *C) {
  __shared__ __align__(16) Slice Slices[Stages];
  const int TX = threadIdx.x, TY = threadIdx.y;
  float Sums[Own][Own] = {};
  fetch(Slices[0], N, Inner, A, B, 0);
  __pipeline_commit();
  for (int First = 0; First < Inner; First += Depth) {
    const int Stage = First / Depth % Stages;
    if (First + Depth < Inner)
      fetch(Slices[(Stage + 1) % Stages], N, Inner, A, B, First + Depth);
    __pipeline_commit();
    __pipeline_wait_prior(VARIANT(1, 2));
    __syncthreads();
    for (int K = 0; K < Depth; ++K) {
      float FromA[Own], FromB[Own];
      for (int I = 0; I < Own; ++I) {
        FromA[I] = Slices[Stage].A[TY + I * Threads][K]; // RACE
        FromB[I] = Slices[Stage].B[K][TX + I * Threads]; // RACE
      }
      for (int I = 0; I < Own; ++I)
        for (int J = 0; J < Own; ++J)
          Sums[I][J] += FromA[I] * FromB[J];
    }
    __syncthreads();
  }
  const int Row = blockIdx.y * Tile + TY, Column = blockIdx.x * Tile + TX;
  for (int I = 0; I < Own; ++I)
    for (int J = 0; J < Own; ++J)
      C[(Row + I * Threads) * N + Column + J * Threads] = Sums[I][J];
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Rows = Small ? 64 : 2048, N = Small ? 128 : 2048;
  const int Inner = Small ? 48 : 2048;
  const std::vector<float> HostA = drawUnits(Rows * Inner);
  const std::vector<float> HostB = drawUnits(Inner * N);
  DeviceArray<float> A(HostA), B(HostB), C(Rows * N);
  const dim3 Grid(N / Tile, Rows / Tile), Block(Threads, Threads);
  for (int Round = 0; Round < (Small ? 1 : 5); ++Round)
    multiply<<<Grid, Block>>>(N, Inner, A, B, C);
  const std::vector<float> Got = C.download();

  bool Right = true;
  for (int Sample = 0; Sample < 1024; ++Sample) {
    const int Row = draw() % Rows, Column = draw() % N;
    double Want = 0;
    for (int K = 0; K < Inner; ++K)
      Want += double(HostA[Row * Inner + K]) * HostB[K * N + Column];
    Right = Right && isNear(Got[Row * N + Column], Want);
  }
  return finish(Right);
}
