// Intent: a thread's own atomics and calls change its cell between its plain
// reads; that is not racy.
// CLEAN-ONLY
// ALSO: -O0
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;
CONSTANT Scaled<20, 2> Rounds;

__device__ __noinline__ void bump(unsigned *Cell) { *Cell += 1; }

__global__ void update(unsigned *Cells, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x, Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned First = Cells[I];
    atomicAdd(&Cells[I], 1);
    unsigned Second = Cells[I];
    bump(&Cells[I]);
    unsigned Third = Cells[I];
    asm volatile("st.global.u32 [%0], %1;" ::"l"(&Cells[I]), "r"(Third + 1)
                 : "memory");
    Sum += Cells[I] - First + Third - Second;
  }
  Out[I] = Sum;
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  update<<<Blocks, Threads>>>(Cells, Out);
  return finish(matches(Cells, N, [](size_t) { return 3 * Rounds; }) &&
                matches(Out, N, [](size_t) { return 4 * Rounds; }));
}
