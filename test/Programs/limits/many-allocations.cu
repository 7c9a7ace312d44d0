// Intent: memory is allocated and freed again and again, with kernels in between;
// its shadow must go with it, and nothing be left of who accessed the addresses.
// ALONE
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;
CONSTANT Scaled<300, 30> Cycles;

/// Which thread writes a word depends on the cycle.
__global__ void fill(unsigned *Memory, unsigned Cycle) {
  unsigned I = (blockIdx.x * Threads + threadIdx.x + Cycle * 77) % N;
#ifdef RACY
  I /= 2;
#endif
  Memory[I] = I + Cycle; // RACE
}

__global__ void copy(const unsigned *Memory, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Out[I] = Memory[I];
}

static size_t freeBytes() {
  size_t Free, Total;
  CHECK(cudaMemGetInfo(&Free, &Total));
  return Free;
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  bool Right = true;
  size_t Before = 0;
  for (unsigned Cycle = 0; Cycle < Cycles; ++Cycle) {
    // Once all sizes have been used.
    if (Cycle == Cycles / 3)
      Before = freeBytes();
    size_t Bytes = size_t(Cycle * 7 % 10 + 1) << 20;
    void *Memory;
    if (Cycle % 2)
      CHECK(cudaMalloc(&Memory, Bytes));
    else
      CHECK(cudaMallocAsync(&Memory, Bytes, 0));
    fill<<<Blocks, Threads>>>(static_cast<unsigned *>(Memory), Cycle);
    copy<<<Blocks, Threads>>>(static_cast<unsigned *>(Memory), Out);
    if (Cycle % 2)
      CHECK(cudaFree(Memory));
    else
      CHECK(cudaFreeAsync(Memory, 0));
    Right &= matches(Out, N, [=](size_t I) { return I + Cycle; });
  }
  if (freeBytes() + (size_t(100) << 20) < Before) {
    std::printf("%zu MiB are lost\n", (Before - freeBytes()) >> 20);
    Right = false;
  }
  return finish(Right);
}
