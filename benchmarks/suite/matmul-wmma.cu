// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Product of two square matrices of half precision on tensor cores: a block of
// four warps computes a tile of 64 by 64, a warp a quarter of it. All threads
// stage slices of both factors in shared memory. The planted variant has no
// barrier between a slice's use and the staging of the next.

#include "Suite.h"
#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

constexpr int Tile = 64, Depth = 32, Part = 16, Threads = 128;
constexpr int Pad = 8, Piece = sizeof(uint4) / sizeof(half);

__device__ const uint4 *pieceAt(const half *Values) {
  return reinterpret_cast<const uint4 *>(Values);
}
__device__ uint4 *pieceAt(half *Values) {
  return reinterpret_cast<uint4 *>(Values);
}

__global__ void multiply(int N, const half *A, const half *B, float *C) {
  __shared__ __align__(32) half SliceA[Tile][Depth + Pad];
  __shared__ __align__(32) half SliceB[Depth][Tile + Pad];
  const int Row = blockIdx.y * Tile, Column = blockIdx.x * Tile;
  const int Warp = threadIdx.x / 32;
  const int WarpRow = Warp / 2 * 32, WarpColumn = Warp % 2 * 32;

  wmma::fragment<wmma::accumulator, Part, Part, Part, float> Sums[2][2];
  for (auto &SumsOfRow : Sums)
    for (auto &Sum : SumsOfRow)
      wmma::fill_fragment(Sum, 0);

  for (int First = 0; First < N; First += Depth) {
    for (int I = threadIdx.x * Piece; I < Tile * Depth; I += Threads * Piece) {
      const int R = I / Depth, K = I % Depth;
      const uint4 *From = pieceAt(&A[(Row + R) * N + First + K]);
      *pieceAt(&SliceA[R][K]) = *From; // RACE
    }
    for (int I = threadIdx.x * Piece; I < Tile * Depth; I += Threads * Piece) {
      const int K = I / Tile, Col = I % Tile;
      const uint4 *From = pieceAt(&B[(First + K) * N + Column + Col]);
      *pieceAt(&SliceB[K][Col]) = *From; // RACE
    }
    __syncthreads();
    for (int K = 0; K < Depth; K += Part) {
      wmma::fragment<wmma::matrix_a, Part, Part, Part, half, wmma::row_major>
          FromA[2];
      wmma::fragment<wmma::matrix_b, Part, Part, Part, half, wmma::row_major>
          FromB[2];
      for (int I = 0; I < 2; ++I) {
        const half *PartA = &SliceA[WarpRow + I * Part][K];
        const half *PartB = &SliceB[K][WarpColumn + I * Part];
        wmma::load_matrix_sync(FromA[I], PartA, Depth + Pad); // RACE
        wmma::load_matrix_sync(FromB[I], PartB, Tile + Pad);  // RACE
      }
      for (int I = 0; I < 2; ++I)
        for (int J = 0; J < 2; ++J)
          wmma::mma_sync(Sums[I][J], FromA[I], FromB[J], Sums[I][J]);
    }
    VARIANT(__syncthreads(), (void)0);
  }
  for (int I = 0; I < 2; ++I)
    for (int J = 0; J < 2; ++J)
      wmma::store_matrix_sync(
          &C[(Row + WarpRow + I * Part) * N + Column + WarpColumn + J * Part],
          Sums[I][J], N, wmma::mem_row_major);
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 128 : 2048;
  // Small integers, so that sums are exact.
  std::vector<half> HostA(N * N), HostB(N * N);
  for (half &Value : HostA)
    Value = __int2half_rn(draw() % 4);
  for (half &Value : HostB)
    Value = __int2half_rn(draw() % 4);
  DeviceArray<half> A(HostA), B(HostB);
  DeviceArray<float> C(N * N);
  for (int Round = 0; Round < (Small ? 1 : 20); ++Round)
    multiply<<<dim3(N / Tile, N / Tile), Threads>>>(N, A, B, C);
  const std::vector<float> Got = C.download();

  bool Right = true;
  for (int Sample = 0; Sample < 512; ++Sample) {
    const int Row = draw() % N, Column = draw() % N;
    float Want = 0;
    for (int K = 0; K < N; ++K)
      Want += __half2float(HostA[Row * N + K]) *
              __half2float(HostB[K * N + Column]);
    Right = Right && Got[Row * N + Column] == Want;
  }
  return finish(Right);
}
