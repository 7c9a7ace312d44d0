// Intent: abort() after a racy kernel; the report appears and the program still
// ends by its signal.
// RACY-ONLY
// SIGNAL: SIGABRT
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
  CHECK(cudaDeviceSynchronize());
  std::abort();
}
