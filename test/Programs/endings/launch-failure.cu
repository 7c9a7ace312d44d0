// Intent: a launch with too many threads fails and the program does not look: a
// loud line says that this kernel was not checked.
// RACY-ONLY
// EXPECT: CRSan: .*launch of .*neverRuns.* failed
#include "../check.h"

__global__ void count(unsigned *Counter) {
  for (unsigned R = 0; R < 50; ++R) {
    *Counter += 1; // RACE
    __syncthreads();
  }
}

__global__ void neverRuns(unsigned *Counter) { atomicAdd(Counter, 1); }

int main() {
  unsigned *Counter = zeroed<unsigned>(1);
  neverRuns<<<1, 4096>>>(Counter);
  count<<<32, 128>>>(Counter);
  cudaDeviceSynchronize();
}
