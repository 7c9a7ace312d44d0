// Intent: the halves of a warp work apart, each with barriers of its own lanes and a
// different number of rounds, and meet once at the end of each turn. In the racy twin
// a half reads the other's result before they have met.
// UNSEEN-GPU: collider: lanes of a warp that part do not overlap in time
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks, Turns = 3;

__global__ void work(unsigned *Out) {
  __shared__ unsigned Cells[Threads];
  unsigned T = threadIdx.x, Half = T / 16 % 2, First = T / 16 * 16;
  unsigned Mask = Half ? 0xffff0000 : 0x0000ffff, Sum = 0;
  for (unsigned Turn = 0; Turn < Turns; ++Turn) {
    Cells[T] = T + Turn; // RACE
    for (unsigned R = 0; R < 2 + 3 * Half; ++R) {
      __syncwarp(Mask);
      unsigned Next = Cells[First + (T + 1) % 16];
      __syncwarp(Mask);
      Cells[T] = Next; // RACE
    }
#ifdef RACY
    __syncwarp(Mask);
#else
    __syncwarp();
#endif
    Sum += Cells[T ^ 16]; // RACE
    __syncwarp();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  work<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, N, [](size_t I) {
    unsigned Other = (I % Threads) ^ 16, Rounds = Other / 16 % 2 ? 5 : 2;
    unsigned From = Other / 16 * 16 + (Other + Rounds) % 16;
    return Turns * From + Turns * (Turns - 1) / 2;
  }));
}
