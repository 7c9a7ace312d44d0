// Intent: different warps update different bytes and shorts of the same words;
// that is not racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Blocks = 8, Warps = 4;
CONSTANT Scaled<100, 5> Rounds;

__global__ void update(unsigned char *Global, unsigned *Out) {
  __shared__ unsigned char Bytes[32 * Warps];
  __shared__ unsigned short Shorts[32 * Warps];
  unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32;
  unsigned Own = Lane * Warps + Warp, I = blockIdx.x * 32 * Warps + Own;
  Bytes[Own] = Warp;
  Shorts[Own] = Warp;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Bytes[Own] += R;
    Shorts[Own] += R;
    Global[I] += 1;
    __syncwarp();
  }
  Out[I] = Bytes[Own] * 65536u + Shorts[Own];
}

int main() {
  constexpr unsigned N = Blocks * 32 * Warps;
  unsigned char *Global = zeroed<unsigned char>(N);
  unsigned *Out = zeroed<unsigned>(N);
  update<<<Blocks, 32 * Warps>>>(Global, Out);
  return finish(
      matches(Global, N, [](size_t) { return Rounds; }) &&
      matches(Out, N, [](size_t I) {
        unsigned Sum = Rounds * (Rounds + 1) / 2 + I % Warps;
        return Sum % 256 * 65536 + Sum;
      }));
}
