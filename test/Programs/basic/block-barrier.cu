// Intent: blocks exchange values through global memory behind a barrier that
// orders the threads of one block only.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 32, N = Threads * Blocks;
CONSTANT Scaled<30, 5> Rounds;

__device__ void write(unsigned *Cells, unsigned R) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Cells[I] = R * N + I; // RACE
}

__device__ void read(const unsigned *Cells, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  unsigned Value = Cells[(I + Threads) % N]; // RACE
  Out[I] += Value;
}

#ifdef RACY
__global__ void exchange(unsigned *Cells, unsigned *Out) {
  for (unsigned R = 1; R <= Rounds; ++R) {
    write(Cells, R);
    __syncthreads();
    read(Cells, Out);
    __syncthreads();
  }
}
#else
__global__ void writeAll(unsigned *Cells, unsigned R) { write(Cells, R); }
__global__ void readAll(unsigned *Cells, unsigned *Out) { read(Cells, Out); }
#endif

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
#ifdef RACY
  exchange<<<Blocks, Threads>>>(Cells, Out);
#else
  for (unsigned R = 1; R <= Rounds; ++R) {
    writeAll<<<Blocks, Threads>>>(Cells, R);
    readAll<<<Blocks, Threads>>>(Cells, Out);
  }
#endif
  return finish(matches(Out, N, [](size_t I) {
    return N * (Rounds * (Rounds + 1) / 2) + Rounds * ((I + Threads) % N);
  }));
}
