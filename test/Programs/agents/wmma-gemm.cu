// Intent: warps of a block multiply tiles of halves from shared memory (wmma), while the
// block's threads bring the next tiles to the other buffer. One barrier a step orders both.
// The racy twins lack it, or bring the tiles to the buffer in use.
// FIXED: fixed
// RACY: no-barrier -DNO_BARRIER
// RACY: one-buffer -DBUFFERS=1
// ARCH: sm_80
#include "asynchronous.h"

#include <cuda_fp16.h>
#include <mma.h>

#ifndef BUFFERS
#define BUFFERS 2
#endif

using namespace nvcuda;

constexpr unsigned Edge = 16, Warps = 2, Threads = 32 * Warps;
CONSTANT Scaled<128, 48> Depth;

struct Tiles {
  alignas(32) __half A[Warps][Edge * Edge];
  alignas(32) __half B[Edge * Edge];
};

/// A warp makes 16 rows of C, of 16 columns. A is stored row by row, B column by column.
__device__ __forceinline__ void bring(Tiles &To, const __half *A, const __half *B,
                                      unsigned Step) {
  const unsigned N = Depth;
  for (unsigned I = threadIdx.x; I < Warps * Edge * Edge; I += Threads)
    (&To.A[0][0])[I] = A[I / Edge * N + Step * Edge + I % Edge]; // RACE
  for (unsigned I = threadIdx.x; I < Edge * Edge; I += Threads)
    To.B[I] = B[I / Edge * N + Step * Edge + I % Edge]; // RACE
}

__global__ void multiply(const __half *A, const __half *B, float *C) {
  __shared__ Tiles All[BUFFERS];
  const unsigned Warp = threadIdx.x / 32, Steps = Depth / Edge;
  wmma::fragment<wmma::accumulator, Edge, Edge, Edge, float> Sum;
  wmma::fill_fragment(Sum, 0.f);
  bring(All[0], A, B, 0);
  __syncthreads();
  for (unsigned Step = 0; Step < Steps; ++Step) {
    const Tiles &Now = All[Step % BUFFERS];
    if (Step + 1 < Steps)
      bring(All[(Step + 1) % BUFFERS], A, B, Step + 1);
    wmma::fragment<wmma::matrix_a, Edge, Edge, Edge, __half, wmma::row_major> Left;
    wmma::fragment<wmma::matrix_b, Edge, Edge, Edge, __half, wmma::col_major> Right;
    wmma::load_matrix_sync(Left, Now.A[Warp], Edge); // RACE
    wmma::load_matrix_sync(Right, Now.B, Edge);      // RACE
    wmma::mma_sync(Sum, Left, Right, Sum);
#ifndef NO_BARRIER
    __syncthreads();
#endif
  }
  wmma::store_matrix_sync(C + Warp * Edge * Edge, Sum, Edge, wmma::mem_row_major);
}

int main() {
  constexpr unsigned Rows = Warps * Edge;
  const unsigned N = Depth;
  std::vector<__half> A, B;
  std::vector<float> Want(Rows * Edge);
  auto AtA = [](unsigned I) { return float(int(I * 7 % 13) - 6); };
  auto AtB = [](unsigned I) { return float(int(I * 5 % 11) - 5); };
  for (unsigned I = 0; I < Rows * N; ++I)
    A.push_back(__float2half(AtA(I)));
  for (unsigned I = 0; I < Edge * N; ++I)
    B.push_back(__float2half(AtB(I)));
  for (unsigned I = 0; I < Rows; ++I)
    for (unsigned J = 0; J < Edge; ++J)
      for (unsigned K = 0; K < N; ++K)
        Want[I * Edge + J] += AtA(I * N + K) * AtB(J * N + K);
  float *C = zeroed<float>(Rows * Edge);
  multiply<<<1, Threads>>>(upload(A), upload(B), C);
  return finish(matches(C, Rows * Edge, [&](size_t I) { return Want[I]; }));
}
