// Intent: whether threads access places of their own is decided by a launch's extents and arguments:
// where they do not, metadata mode checks the accesses, and where they do, it reports nothing.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 %s -o %t
// RUN: not %crsan run --detector=both %t racy 2>&1 | FileCheck %s
// CHECK-DAG: kernel: multiples(
// CHECK-DAG: kernel: steps(
// CHECK-DAG: kernel: stepsOfTwoKinds(
// CHECK-DAG: kernel: bounded(
// CHECK-DAG: kernel: oneOfTwo(
// CHECK-DAG: kernel: backwards(
// CHECK-DAG: kernel: reverse(
// CHECK-DAG: kernel: wrapped(
// CHECK-DAG: kernel: tile(

// RUN: not %crsan run --detector=metadata %t racy 2>&1 | FileCheck %s
// RUN: %crsan run --detector=both %t 2>&1 | FileCheck %s --check-prefix=APART
// APART: SUMMARY: CRSan: no data races found

#include <cstdio>
#include <cuda_runtime.h>

__global__ void multiples(int N, int *Out) {
#pragma unroll 1
  for (int I = 0; I < N; ++I) {
    Out[threadIdx.x + I] = I;
    Out[threadIdx.x + 2 * I] = I;
  }
}

__global__ void steps(int N, int Step, int *Out) {
#pragma unroll 1
  for (int I = threadIdx.x; I < N; I += Step + threadIdx.x)
    Out[I] = I;
}

__global__ void stepsOfTwoKinds(int N, int Step, int *Out) {
  const int Mine = threadIdx.x & 1 ? Step + 1 : Step;
#pragma unroll 1
  for (int I = threadIdx.x; I < N; I += Mine)
    Out[I] = I;
}

// The condition bounds the iterations of two of the accesses.
__global__ void bounded(int N, int Step, int *Out) {
  const int First = (int)threadIdx.x * Step;
#pragma unroll 1
  for (int I = 0; I < N; ++I) {
    if (I < 4) {
      Out[First + I + 1] = I;
      Out[First + I + 2] = Step;
    }
    Out[First + I] = N;
  }
}

// The condition bounds the iterations, and not what the threads make of them.
__global__ void oneOfTwo(int Odd, int *Out, int *Ways) {
  const int First = (int)threadIdx.x * 8;
#pragma unroll 1
  for (int I = 0; I < 16; ++I)
    if (I < 8) {
      int J = I;
      if ((threadIdx.x ^ I) & Odd) {
        J = I + 2;
        Ways[threadIdx.x] = J;
      }
      Out[First + J] = I;
    } else
      Ways[threadIdx.x] = Odd;
}

// Columns are bounded together only if there are several.
__global__ void backwards(int Columns, int Rows, int *Out) {
  if (threadIdx.x < 3)
    Out[(int)threadIdx.x * Columns + (int)threadIdx.y * Columns * Rows] = 1;
}

// `End` is behind the array, perhaps where another one begins.
__global__ void reverse(int *Out, const int *End) {
  Out[threadIdx.x] = End[-1 - (int)threadIdx.x];
}

// The product may be more than 32 bits hold.
__global__ void wrapped(unsigned Length, unsigned Step, char *Out) {
  const unsigned Thread = threadIdx.x;
  const unsigned I = Thread * Step + Thread / 256 * 12345;
  if (I < Length)
    Out[I] = Thread;
}

// The rows of a tile may reach into each other.
__global__ void tile(int Columns, int *Out) {
  for (int I = 0; I < 3; ++I)
    for (int J = 0; J < 4; ++J)
      Out[(threadIdx.y + 8 * I) * Columns + threadIdx.x + 8 * J] = I;
}

int main(int Arguments, char **) {
  const bool IsRacy = Arguments > 1;
  int *Out, *Ways;
  cudaMalloc(&Out, 1 << 16);
  cudaMalloc(&Ways, 1 << 16);
  multiples<<<1, 3>>>(IsRacy ? 4 : 1, Out);
  steps<<<1, 32>>>(IsRacy ? 4096 : 32, 32, Out);
  stepsOfTwoKinds<<<1, 32>>>(IsRacy ? 4096 : 32, 32, Out);
  bounded<<<1, 64>>>(1, IsRacy ? 2 : 3, Out);
  oneOfTwo<<<1, 64>>>(IsRacy, Out, Ways);
  backwards<<<1, dim3(1, 32)>>>(-3, IsRacy ? 0 : -1, Out + 128);
  constexpr int Length = 1 << 14;
  reverse<<<1, 64>>>(Out + Length - 64, (IsRacy ? Out : Ways) + Length);
  wrapped<<<1, 256>>>(1024, IsRacy ? 1 << 25 : 4, (char *)Out);
  tile<<<1, dim3(8, 8)>>>(IsRacy ? 28 : 32, Out);
  return cudaDeviceSynchronize();
}
