// Intent: Table 3, byte granularity SMEM RW: two warps write bytes of words whose other
// bytes two warps read, which is no race. The racy twin reads the bytes that are written.
// Others: iGUARD, Compute Sanitizer and SuperCollider accuse nobody.
#include "../check.h"

constexpr unsigned Warps = 4, Blocks = 4, Threads = 32 * Warps;
CONSTANT Scaled<200, 20> Rounds;

__global__ void mix(unsigned *Out) {
  __shared__ unsigned char Bytes[Threads];
  const unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32;
  unsigned Sum = 0;
  Bytes[Lane * Warps + Warp] = Warp;
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
#ifdef RACY
    const unsigned Read = Warp - 2;
#else
    const unsigned Read = Warp;
#endif
    if (Warp < 2)
      Bytes[Lane * Warps + Warp] = R; // RACE
    else
      Sum += Bytes[Lane * Warps + Read]; // RACE
    __syncthreads();
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  mix<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    const unsigned Warp = I % Threads / 32;
    return Warp < 2 ? 0 : Rounds * Warp;
  }));
}
