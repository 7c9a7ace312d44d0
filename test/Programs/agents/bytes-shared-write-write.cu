// Intent: Table 3, byte granularity SMEM WW: four warps write a byte each of the same
// words, which is no race. In the racy twin two warps write one byte.
// Others: iGUARD, Compute Sanitizer and SuperCollider accuse nobody.
#include "../check.h"

constexpr unsigned Warps = 4, Blocks = 4, Threads = 32 * Warps;
CONSTANT Scaled<200, 20> Rounds;

__global__ void fill(unsigned *Out) {
  __shared__ unsigned char Bytes[Threads];
  const unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32;
#ifdef RACY
  const unsigned Own = Lane * Warps + Warp / 2;
  Bytes[threadIdx.x] = 0;
  __syncthreads();
#else
  const unsigned Own = Lane * Warps + Warp;
#endif
  for (unsigned R = 1; R <= Rounds; ++R) {
    Bytes[Own] = R * Warps + Warp; // RACE
    __syncthreads();
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Bytes[threadIdx.x];
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  fill<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    return unsigned((Rounds * Warps + I % Warps) % 256);
  }));
}
