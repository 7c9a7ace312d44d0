// Intent: each unit of a program brings the runtime along, and the program has one of
// it; accesses and barriers in functions of another unit count.
// BUILD: -fgpu-rdc Inputs/neighbour.cu
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 4, N = Threads * Blocks;

__device__ unsigned neighbour(const unsigned *Cells, unsigned I, unsigned N);

__global__ void shift(unsigned *Cells, unsigned *Out) {
  unsigned First = blockIdx.x * Threads, I = threadIdx.x;
  Cells[First + I] = I; // RACE
  Out[First + I] = neighbour(Cells + First, I, Threads);
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  shift<<<Blocks, Threads>>>(Cells, Out);
  return finish(matches(
      Out, N, [](size_t I) { return unsigned(I + 1) % Threads; }));
}
