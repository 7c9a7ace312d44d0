// Intent: the kernel traps after it has raced; its context is lost, the report
// is not.
// RACY-ONLY
#include "../check.h"

__global__ void count(unsigned *Counter, unsigned *Finished) {
  for (unsigned R = 0; R < 50; ++R) {
    *Counter += 1; // RACE
    __syncthreads();
  }
  if (atomicAdd(Finished, 1) == gridDim.x * blockDim.x - 1)
    __trap();
}

int main() {
  unsigned *Counter = zeroed<unsigned>(1), *Finished = zeroed<unsigned>(1);
  count<<<32, 128>>>(Counter, Finished);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
