// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of KERNELS kernels with SITES accesses each (benchmarks/growth):
//
//   ./program ELEMENTS LAUNCHES
//
// ELEMENTS is a power of two. It prints
//
//   start_ms A work_ms B
//
// A: from the begin of main() until each kernel has run once. B: LAUNCHES
// further launches of each kernel.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <utility>

constexpr int Threads = 256;

template <int Kernel>
__global__ void sum(const float *In, float *Out, unsigned Elements) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  if (I >= Elements)
    return;
  float Sum = Kernel;
#pragma unroll
  for (unsigned Site = 1; Site < SITES; ++Site)
    Sum += In[(I + 37 * Site) & (Elements - 1)];
  Out[I] = Sum;
}

template <int... Kernel>
static void launchAll(const float *In, float *Out, unsigned Elements,
                      std::integer_sequence<int, Kernel...>) {
  const unsigned Blocks = (Elements + Threads - 1) / Threads;
  (sum<Kernel><<<Blocks, Threads>>>(In, Out, Elements), ...);
}

int main(int Argc, char **Argv) {
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  if (Argc != 3)
    return 2;
  const unsigned Elements = atoi(Argv[1]), Launches = atoi(Argv[2]);
  const std::make_integer_sequence<int, KERNELS> Kernels;
  const auto Begin = Clock::now();
  float *In, *Out;
  cudaMalloc(&In, Elements * sizeof(float));
  cudaMalloc(&Out, Elements * sizeof(float));
  cudaMemset(In, 0, Elements * sizeof(float));
  launchAll(In, Out, Elements, Kernels);
  cudaDeviceSynchronize();
  const auto Started = Clock::now();
  for (unsigned I = 0; I < Launches; ++I)
    launchAll(In, Out, Elements, Kernels);
  if (cudaDeviceSynchronize() != cudaSuccess)
    return 1;
  const auto End = Clock::now();
  float Last = 0;
  cudaMemcpy(&Last, Out + Elements - 1, sizeof(Last), cudaMemcpyDeviceToHost);
  if (Last != KERNELS - 1)
    return 1;
  printf("start_ms %.3f work_ms %.3f\n", Milliseconds(Started - Begin).count(),
         Milliseconds(End - Started).count());
}
