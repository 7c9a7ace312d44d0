// Intent: a program that looks at no error code goes on after a kernel has
// accessed memory that is not there; the report appears.
// RACY-ONLY
#include "../check.h"

__global__ void count(unsigned *Counter, unsigned *Finished, unsigned *Nowhere) {
  for (unsigned R = 0; R < 50; ++R) {
    *Counter += 1; // RACE
    __syncthreads();
  }
  if (atomicAdd(Finished, 1) == gridDim.x * blockDim.x - 1)
    *(volatile unsigned *)Nowhere = 1;
}

int main() {
  unsigned *Memory, Result[2];
  cudaMalloc(&Memory, 2 * sizeof(unsigned));
  cudaMemset(Memory, 0, 2 * sizeof(unsigned));
  cudaMemcpy(Memory, nullptr, 8, cudaMemcpyHostToDevice);
  count<<<32, 128>>>(Memory, Memory + 1, nullptr);
  cudaMemcpy(Result, Memory, sizeof(Result), cudaMemcpyDeviceToHost);
  count<<<32, 128>>>(Memory, Memory + 1, nullptr);
  cudaFree(Memory);
  cudaFree(Memory);
}
