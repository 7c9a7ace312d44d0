// Intent: an assertion fails on the device after it has raced; its context is
// lost, the report is not.
// RACY-ONLY
// EXPECT: Finished on the device
#include "../check.h"
#include <cassert>

__global__ void count(unsigned *Counter, unsigned *Finished) {
  for (unsigned R = 0; R < 50; ++R) {
    *Counter += 1; // RACE
    __syncthreads();
  }
  unsigned Others = atomicAdd(Finished, 1);
  assert(Others != gridDim.x * blockDim.x - 1 && "Finished on the device");
}

int main() {
  unsigned *Counter = zeroed<unsigned>(1), *Finished = zeroed<unsigned>(1);
  count<<<32, 128>>>(Counter, Finished);
  CHECK(cudaDeviceSynchronize());
}
