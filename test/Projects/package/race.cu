// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__device__ int Sum;
__global__ void add() { Sum += 1; }
int raced() {
  add<<<8, 32>>>();
  return cudaDeviceSynchronize();
}
