// Intent: a program that nvcc compiles is checked in each mode; reports name its lines, and
// the fixed program is clean.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// DEFINE: %{mode} =
// DEFINE: %{build} = %crsan_nvcc -fsanitize=cuda-race -fsanitize-cuda-race-mode=%{mode} -arch=sm_90 -O2 %s
// DEFINE: %{racy} = %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --device=sim ./racy 2>&1
// DEFINE: %{fixed} = env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim ./fixed 2>&1
//
// REDEFINE: %{mode} = collider
// RUN: %{build} -DRACY -o racy 2>&1 | count 0
// RUN: %{build} -o fixed 2>&1 | count 0
// RUN: %{racy} | FileCheck %s --check-prefix=COLLIDER
// RUN: %{fixed} | FileCheck %s --check-prefix=FIXED
// COLLIDER: CRSan: data race: {{.*}} in shared memory
// COLLIDER-NEXT: #0 reverse(int*) at {{.*}}program.cu:{{41|45}}:
// COLLIDER: kernel: reverse(int*)
//
// REDEFINE: %{mode} = metadata
// RUN: %{build} -DRACY -o racy 2>&1 | count 0
// RUN: %{build} -o fixed 2>&1 | count 0
// RUN: %{racy} | FileCheck %s --check-prefix=METADATA
// RUN: %{fixed} | FileCheck %s --check-prefix=FIXED
// METADATA: CRSan: data race: race within a block
// METADATA-NEXT: write of 4 bytes at {{.*}}program.cu:[[#@LINE+16]]:
// METADATA: #0 reverse(int*) at {{.*}}program.cu:[[#@LINE+19]]:
//
// Debug code is checked, too.
// RUN: %{build} -G -DRACY -o racy && %{racy} | FileCheck %s --check-prefix=DEBUG
// DEBUG: CRSan: data race:
// DEBUG: #0 reverse(int*) at {{.*}}program.cu:
//
// FIXED: done
// FIXED-NOT: data race:
// FIXED: SUMMARY: CRSan: no data races found

#include <cstdio>

__global__ void reverse(int *Out) {
  __shared__ int Tile[128];
  Tile[threadIdx.x] = threadIdx.x;
#ifndef RACY
  __syncthreads();
#endif
  Out[threadIdx.x] = Tile[127 - threadIdx.x];
}

int main() {
  int *Out;
  cudaMalloc(&Out, 128 * sizeof(int));
  reverse<<<1, 128>>>(Out);
  puts(cudaDeviceSynchronize() == cudaSuccess ? "done" : "failed");
}
