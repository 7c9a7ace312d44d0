// Intent: main returns while the racy kernel still runs; the report appears.
// RACY-ONLY
#include "../check.h"

__global__ void count(unsigned *Counter) {
  for (unsigned R = 0; R < 50; ++R) {
    *Counter += 1; // RACE
    __syncthreads();
  }
}

int main() {
  unsigned *Counter = zeroed<unsigned>(1);
  count<<<32, 128>>>(Counter);
}
