// Intent: Table 3, byte granularity GMEM RW: two blocks write bytes of words whose other
// bytes two blocks read, which is no race. The racy twin reads the bytes that are written.
// Others: iGUARD accuses it, unless it keeps metadata of each byte; Compute Sanitizer and
// SuperCollider accuse nobody.
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<200, 20> Rounds;

__global__ void mix(unsigned char *Bytes, unsigned *Out) {
  const unsigned B = blockIdx.x, First = threadIdx.x * Blocks;
  unsigned Sum = 0;
#ifdef RACY
  const unsigned Read = B - 2;
#else
  const unsigned Read = B;
#endif
  for (unsigned R = 0; R < Rounds; ++R) {
    if (B < 2)
      Bytes[First + B] = R; // RACE
    else
      Sum += Bytes[First + Read]; // RACE
    __syncthreads();
  }
  Out[B * Threads + threadIdx.x] = Sum;
}

int main() {
  std::vector<unsigned char> Bytes;
  for (unsigned I = 0; I < N; ++I)
    Bytes.push_back(I % Blocks);
  unsigned *Out = zeroed<unsigned>(N);
  mix<<<Blocks, Threads>>>(upload(Bytes), Out);
  return finish(matches(Out, N, [](size_t I) {
    const unsigned B = I / Threads;
    return B < 2 ? 0 : Rounds * B;
  }));
}
