// Intent: several simulated devices: each has its memory, peers may be allowed in, and streams
// of one wait for events of another.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run --devices=2 %t 2>&1 | FileCheck %s

#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *P, int Value) { P[threadIdx.x] = Value; }
__global__ void copy(int *To, const int *From) {
  To[threadIdx.x] = From[threadIdx.x] + 1;
}

int main() {
  setbuf(stdout, nullptr); // In one order with the reports.
  int Count, Can, *A, *B, Host[32];
  cudaEvent_t Filled;
  cudaGetDeviceCount(&Count);
  cudaDeviceCanAccessPeer(&Can, 1, 0);
  // CHECK: 2 devices, peers 1
  printf("%d devices, peers %d\n", Count, Can);
  cudaMalloc(&A, 128);
  cudaEventCreate(&Filled);
  fill<<<1, 32>>>(A, 41);
  cudaEventRecord(Filled, 0);
  cudaSetDevice(1);
  cudaMalloc(&B, 128);
  cudaDeviceEnablePeerAccess(0, 0);
  cudaStreamWaitEvent(0, Filled, 0);
  copy<<<1, 32>>>(B, A);
  cudaMemcpy(Host, B, 128, cudaMemcpyDeviceToHost);
  // CHECK-NEXT: 42
  printf("%d\n", Host[31]);
  cudaPointerAttributes Where;
  cudaPointerGetAttributes(&Where, B);
  // CHECK-NEXT: on 1
  printf("on %d\n", Where.device);
  cudaDeviceDisablePeerAccess(0);
  copy<<<1, 32>>>(B, A);
  // CHECK: CRSan: kernel fault: invalid address
  // CHECK: first seen: device 1 block (0,0,0)
  // CHECK: cudaErrorIllegalAddress
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaSetDevice(0);
  // CHECK: cudaSuccess
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
