// Intent: producer and consumer warps meet at named barriers (bar.sync and
// bar.arrive in inline assembly); what these order is not racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Blocks = 8, Rounds = 50;

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Tile[64];
  unsigned T = threadIdx.x % 64, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (threadIdx.x < 64) {
      asm volatile("bar.sync 2, 128;" ::: "memory"); // Tile is free.
      Tile[T] = R * 64 + T;
      asm volatile("bar.sync 3, 64;" ::: "memory"); // Among the producers.
      Sum += Tile[(T + 32) % 64];
      asm volatile("bar.arrive 1, 128;" ::: "memory"); // Tile is full.
    } else {
      asm volatile("bar.arrive 2, 128;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      Sum += Tile[(T + 32) % 64];
    }
  }
  Out[blockIdx.x * 128 + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 128);
  exchange<<<Blocks, 128>>>(Out);
  return finish(matches(Out, Blocks * 128, [](size_t I) {
    return 64 * (Rounds * (Rounds + 1) / 2) + Rounds * ((I + 32) % 64);
  }));
}
