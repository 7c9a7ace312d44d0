// Intent: one shared array serves several purposes and types, one after the
// other, with barriers between; that is not racy.
// CLEAN-ONLY
// ALSO: -O0
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8;
CONSTANT Scaled<20, 8> Rounds;

__global__ void run(unsigned *Out) {
  __shared__ __align__(16) unsigned char Arena[Threads * 8];
  auto *Words = reinterpret_cast<unsigned *>(Arena);
  auto *Wide = reinterpret_cast<unsigned long long *>(Arena);
  unsigned T = threadIdx.x, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Wide[T] = R + T;
    __syncthreads();
    unsigned long long FromWide = Wide[Threads - 1 - T];
    __syncthreads();
    Words[T] = R;
    Words[Threads + T] = unsigned(FromWide);
    __syncthreads();
    Sum += Words[(T + 32) % Threads] + Words[Threads + (T ^ 64)];
    if (__syncthreads_or(Sum == 0))
      break;
    Arena[T] = T;
    __syncthreads();
    Sum += Arena[T ^ 32] - (T ^ 32);
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  run<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    unsigned Mirror = Threads - 1 - (I % Threads ^ 64);
    return Rounds * (Rounds + 1) + Rounds * Mirror;
  }));
}
