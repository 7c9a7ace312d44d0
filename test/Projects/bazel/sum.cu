// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void sum(int *Result) { *Result += 1; }
int main() {
  int *Result;
  cudaMalloc(&Result, sizeof(int));
  sum<<<4, 1>>>(Result);
  return cudaDeviceSynchronize();
}
