// Intent: a recursive merge sort: each thread sorts its own part, with scratch memory on
// its stack; then pairs of parts are merged by ever fewer threads, with barriers between.
#include "../check.h"

constexpr unsigned Threads = 8, Each = 4, N = Threads * Each, Blocks = 2;

__device__ void merge(unsigned *Cells, unsigned Half, unsigned *Scratch) {
  unsigned A = 0, B = Half, I = 0;
  while (I < 2 * Half) {
    bool First = B == 2 * Half || (A < Half && Cells[A] <= Cells[B]); // RACE
    Scratch[I++] = Cells[First ? A++ : B++]; // RACE
  }
  for (I = 0; I < 2 * Half; ++I)
    Cells[I] = Scratch[I]; // RACE
}

__device__ __noinline__ void sort(unsigned *Cells, unsigned Size) {
  if (Size == 1)
    return;
  unsigned Scratch[Each];
  sort(Cells, Size / 2);
  sort(Cells + Size / 2, Size / 2);
  merge(Cells, Size / 2, Scratch);
}

__global__ void sortAll(unsigned *Cells, unsigned *Scratch) {
  unsigned T = threadIdx.x;
  Cells += blockIdx.x * N;
  Scratch += blockIdx.x * N;
  sort(Cells + T * Each, Each);
  for (unsigned Part = Each; Part < N; Part *= 2) {
#ifndef RACY
    __syncthreads();
#endif
    if (T % (2 * Part / Each) == 0)
      merge(Cells + T * Each, Part, Scratch + T * Each);
  }
}

int main() {
  std::vector<unsigned> Host;
  for (unsigned I = 0; I < Blocks * N; ++I)
    Host.push_back(I % N * 37 % N);
  unsigned *Cells = upload(Host);
  sortAll<<<Blocks, Threads>>>(Cells, zeroed<unsigned>(Blocks * N));
  return finish(matches(Cells, Blocks * N, [](size_t I) { return unsigned(I % N); }));
}
