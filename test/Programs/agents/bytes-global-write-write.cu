// Intent: Table 3, byte granularity GMEM WW: four blocks write a byte each of the same
// words, which is no race. In the racy twin two blocks write one byte.
// Others: iGUARD accuses it, unless it keeps metadata of each byte; Compute Sanitizer and
// SuperCollider accuse nobody.
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<200, 20> Rounds;

__global__ void fill(unsigned char *Bytes) {
#ifdef RACY
  const unsigned Own = threadIdx.x * Blocks + blockIdx.x / 2;
#else
  const unsigned Own = threadIdx.x * Blocks + blockIdx.x;
#endif
  for (unsigned R = 1; R <= Rounds; ++R) {
    Bytes[Own] = R * Blocks + blockIdx.x; // RACE
    __syncthreads();
  }
}

int main() {
  unsigned char *Bytes = zeroed<unsigned char>(N);
  fill<<<Blocks, Threads>>>(Bytes);
  return finish(matches(Bytes, N, [](size_t I) {
    return (unsigned char)(Rounds * Blocks + I % Blocks);
  }));
}
