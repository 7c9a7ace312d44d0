// Intent: a host that waits for memory to change, and calls nothing, sees it change; so does one
// that polls a stream, and a kernel that waits for the host.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: %crsan run %t | FileCheck %s

#include <cstdio>
#include <cuda_runtime.h>
#include <thread>

__global__ void answer(volatile int *Flag) { *Flag = 1; }
__global__ void waitFor(volatile int *Flag, int *Out) {
  while (*Flag == 0) {
  }
  *Out = 7;
}

int main() {
  setbuf(stdout, nullptr);
  volatile int *Flag;
  cudaMallocHost((void **)&Flag, 8);
  answer<<<1, 1>>>((int *)Flag);
  while (*Flag == 0) {
  }
  // CHECK: seen
  puts("seen");

  cudaStream_t S;
  cudaStreamCreate(&S);
  answer<<<1, 1, 0, S>>>((int *)Flag + 1);
  while (cudaStreamQuery(S) == cudaErrorNotReady) {
  }
  // CHECK-NEXT: polled 1
  printf("polled %d\n", Flag[1]);

  // One thread of the host waits for a kernel that another one lets go on.
  int *Out, Result;
  cudaMalloc(&Out, 4);
  *Flag = 0;
  waitFor<<<1, 1, 0, S>>>((int *)Flag, Out);
  std::thread Other([&] {
    cudaStream_t Second;
    cudaStreamCreateWithFlags(&Second, cudaStreamNonBlocking);
    answer<<<1, 1, 0, Second>>>((int *)Flag);
    cudaStreamSynchronize(Second);
  });
  cudaStreamSynchronize(S);
  Other.join();
  cudaMemcpy(&Result, Out, 4, cudaMemcpyDeviceToHost);
  // CHECK-NEXT: answered 7
  printf("answered %d\n", Result);
}
