// Intent: data read by __ldg and through const __restrict__ pointers, written by
// an earlier kernel, is not racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 32, N = Threads * Blocks, Launches = 5;

__global__ void fill(unsigned *Cells, unsigned Launch) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Cells[I] = I + Launch;
}

__global__ void gather(const unsigned *__restrict__ Cells,
                       const uint4 *__restrict__ Quads,
                       unsigned *__restrict__ Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  unsigned Sum = Cells[(I + 32) % N] + __ldg(&Cells[(I * 5) % N]);
  uint4 Quad = __ldg(&Quads[I / 4]);
  Out[I] += Sum + Quad.x + Quad.w;
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  for (unsigned L = 0; L < Launches; ++L) {
    fill<<<Blocks, Threads>>>(Cells, L);
    gather<<<Blocks, Threads>>>(Cells, reinterpret_cast<uint4 *>(Cells), Out);
  }
  return finish(matches(Out, N, [](size_t I) -> unsigned {
    return Launches * ((I + 32) % N + I * 5 % N + I / 4 * 8 + 3) +
           4 * (Launches * (Launches - 1) / 2);
  }));
}
