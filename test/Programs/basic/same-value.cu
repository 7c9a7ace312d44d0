// Intent: every block writes the value that is there already; nothing changes,
// so only that the accesses meet can show the race.
#include "../check.h"

constexpr unsigned Blocks = 256, Threads = 128, Rounds = 20;

__global__ void raise(unsigned *Flag) {
  for (unsigned R = 0; R < Rounds; ++R)
    if (threadIdx.x == R) {
#ifdef RACY
      *Flag = 1; // RACE
#else
      atomicExch(Flag, 1);
#endif
    }
}

int main() {
  const unsigned One = 1;
  unsigned *Flag = zeroed<unsigned>(1);
  CHECK(cudaMemcpy(Flag, &One, sizeof(One), cudaMemcpyHostToDevice));
  raise<<<Blocks, Threads>>>(Flag);
  return finish(matches(Flag, 1, [](size_t) { return 1u; }));
}
