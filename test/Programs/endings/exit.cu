// Intent: exit(3) from a function deep in the program; the report appears and
// its exit code wins, as with other sanitizers.
// RACY-ONLY
#include "../check.h"

__global__ void count(unsigned *Counter) {
  for (unsigned R = 0; R < 50; ++R) {
    *Counter += 1; // RACE
    __syncthreads();
  }
}

static void giveUp() { std::exit(3); }

int main() {
  unsigned *Counter = zeroed<unsigned>(1);
  count<<<32, 128>>>(Counter);
  giveUp();
  return 0;
}
