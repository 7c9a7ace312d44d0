// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The triad of STREAM: each array in turn becomes the sum of the second and a
// multiple of the third. A block owns a chunk of consecutive elements, which
// its threads walk through side by side. In the planted variant a chunk is one
// element too long, so two blocks write the first element of a chunk.

#include "Suite.h"

constexpr int Threads = 256, Chunk = 2048, Period = 8;
constexpr float Factor = 0.4f;

__global__ void fill(float *A, float *B, float *C) {
  for (int K = threadIdx.x; K < Chunk; K += Threads) {
    const int I = blockIdx.x * Chunk + K;
    A[I] = 0;
    B[I] = I % Period;
    C[I] = 1;
  }
}

__global__ void triad(int N, float *A, const float *B, const float *C) {
  const int Begin = blockIdx.x * Chunk;
  const int End = min(Begin + VARIANT(Chunk, Chunk + 1), N);
  for (int I = Begin + threadIdx.x; I < End; I += Threads)
    A[I] = B[I] + Factor * C[I]; // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1 << 14 : 1 << 25, Blocks = N / Chunk;
  const int Rounds = Small ? 1 : 5;
  DeviceArray<float> A(N), B(N), C(N);
  fill<<<Blocks, Threads>>>(A, B, C);
  for (int Round = 0; Round < Rounds; ++Round) {
    triad<<<Blocks, Threads>>>(N, A, B, C);
    triad<<<Blocks, Threads>>>(N, B, C, A);
    triad<<<Blocks, Threads>>>(N, C, A, B);
  }

  double Want[Period];
  for (int I = 0; I < Period; ++I) {
    double X = 0, Y = I, Z = 1;
    for (int Round = 0; Round < Rounds; ++Round) {
      X = Y + Factor * Z;
      Y = Z + Factor * X;
      Z = X + Factor * Y;
    }
    Want[I] = Z;
  }
  const std::vector<float> Got = C.download();
  bool Right = true;
  for (int I = 0; I < N; I += 7)
    Right = Right && isNear(Got[I], Want[I % Period]);
  return finish(Right);
}
