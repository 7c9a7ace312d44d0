// Intent: a kernel with very many accesses checks most of them by calls, which find what checks in
// line find, and accuse nothing else. Accesses of all sizes, of shared, global and unknown memory.

// REQUIRES: plugin, host-runtime, sim
// DEFINE: %{build} = %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 %s
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 --cuda-device-only -S %s -o - | FileCheck %s --check-prefix=CODE
// RUN: %{build} -o %t
// RUN: not %crsan run --device=sim --seeds 3 %t racy 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %crsan run --device=sim --seeds 3 %t 2>&1 | FileCheck %s --check-prefix=CLEAN
// No check is in line:
// RUN: %{build} -mllvm -crsan-words-in-line=0 -o %t.all
// RUN: not %crsan run --device=sim --seeds 3 %t.all racy 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %crsan run --device=sim --seeds 3 %t.all 2>&1 | FileCheck %s --check-prefix=CLEAN

// CODE: .entry _Z3few
// CODE-NOT: call{{.*}} __crsan_md_quick_check
// CODE: .entry _Z7vectors
// CODE: call{{.*}} __crsan_md_quick_check

// CLEAN: SUMMARY: CRSan: no data races found

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int Threads = 64, Each = 20;

__global__ void few(int *Out) { Out[(threadIdx.x * 3) & 63] = threadIdx.x; }

template <class T> struct Row {
  T V[Each][Threads];
};

/// Each thread writes and reads places of its own, then those of another thread.
template <class T>
__device__ void exchange(Row<T> &Shared, Row<T> *Global, Row<T> *Either, bool IsRacy) {
  const int Mine = threadIdx.x, Other = (Mine + 32) % Threads;
#pragma unroll
  for (int I = 0; I < Each; ++I) {
    // RACY-DAG: #0 exchange{{.*}}called-checks.cu:[[@LINE+1]]:
    Shared.V[I][Mine] = T(I);
    // RACY-DAG: #0 exchange{{.*}}called-checks.cu:[[@LINE+1]]:
    Global->V[I][Mine] = T(I);
    // RACY-DAG: #0 exchange{{.*}}called-checks.cu:[[@LINE+1]]:
    Either->V[I][Mine] = T(I);
  }
  if (!IsRacy)
    __syncthreads();
  T Sum = 0;
#pragma unroll
  for (int I = 0; I < Each; ++I)
    // RACY-DAG: #0 exchange{{.*}}called-checks.cu:[[@LINE+1]]:
    Sum += Shared.V[I][Other] + Global->V[I][Other] + Either->V[I][Other];
  __syncthreads();
  Global->V[0][Mine] = Sum;
}

template <class T> __global__ void many(Row<T> *Global, Row<T> *Other, bool IsShared, bool IsRacy) {
  __shared__ Row<T> Tile, Second;
  exchange<T>(Tile, Global, IsShared ? &Second : Other, IsRacy);
}

// Reads that all lanes make of one word, and vectors.
__global__ void vectors(double2 *Global, const int *One, bool IsRacy) {
  double2 Sum = {0, 0};
#pragma unroll
  for (int I = 0; I < Each; ++I)
    // RACY-DAG: #0 vectors{{.*}}called-checks.cu:[[@LINE+1]]:
    Global[I * Threads + threadIdx.x] = make_double2(One[I], One[I + 1]);
  if (!IsRacy)
    __syncthreads();
#pragma unroll
  for (int I = 0; I < Each; ++I) {
    const double2 V = Global[I * Threads + (threadIdx.x ^ 32)];
    Sum.x += V.x, Sum.y += V.y;
  }
  __syncthreads();
  Global[threadIdx.x] = Sum;
}

template <class T> void run(bool IsRacy) {
  Row<T> *Global, *Other;
  cudaMalloc(&Global, sizeof(Row<T>));
  cudaMalloc(&Other, sizeof(Row<T>));
  for (bool IsShared : {false, true})
    many<T><<<1, Threads>>>(Global, Other, IsShared, IsRacy);
}

int main(int Argc, char **) {
  const bool IsRacy = Argc > 1;
  run<int>(IsRacy);
  run<char>(IsRacy);
  run<short>(IsRacy);
  run<double>(IsRacy);
  double2 *Global;
  int *One;
  cudaMalloc(&Global, Each * Threads * sizeof(double2));
  cudaMalloc(&One, Threads * sizeof(int));
  cudaMemset(One, 0, Threads * sizeof(int));
  vectors<<<1, Threads>>>(Global, One, IsRacy);
  few<<<1, Threads>>>(One);
  return cudaDeviceSynchronize();
}
