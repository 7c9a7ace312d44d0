// Intent: a compare-and-swap that succeeds races with who has read before it, plainly;
// one that fails does not, and neither does who reads strongly or behind a barrier.
// RACY: word -DWORD=uint32_t
// RACY: double-word -DWORD=uint64_t
// RACY: half-word -DWORD=uint16_t
// RACY: acquire -DWORD=uint32_t -DORDER=__ATOMIC_ACQUIRE
// FIXED: failing-acquire -DWORD=uint32_t -DORDER=__ATOMIC_ACQUIRE -DEXPECTED=1
// RACY: assembly -DWORD=uint32_t -DASSEMBLY
// FIXED: volatile -DWORD=uint32_t -DREAD=volatile
// FIXED: barrier -DWORD=uint16_t -DBARRIER
// FIXED: failing -DWORD=uint64_t -DEXPECTED=1
#include "../check.h"
#include <cstdint>

constexpr unsigned Threads = 128, Blocks = 4, N = Threads * Blocks;
#ifndef READ
#define READ
#endif
#ifndef ORDER
#define ORDER __ATOMIC_RELAXED
#endif
#ifndef EXPECTED
#define EXPECTED 0
#endif

__device__ void swap(WORD *Cell, WORD Expected, WORD Value) {
#ifdef ASSEMBLY
  uint32_t Old;
  asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;" // RACE: assembly
               : "=r"(Old)
               : "l"(Cell), "r"(Expected), "r"(Value)
               : "memory");
#else
  __scoped_atomic_compare_exchange_n( // RACE: *word acquire
      Cell, &Expected, Value, false, ORDER, __ATOMIC_RELAXED,
      __MEMORY_SCOPE_DEVICE);
#endif
}

/// Every thread marks its neighbour's cell, if nobody has.
__global__ void mark(WORD *Cells, unsigned *Out) {
  unsigned First = blockIdx.x * Threads, I = threadIdx.x;
  Out[First + I] = *(const READ WORD *)&Cells[First + I]; // RACE
#ifdef BARRIER
  __syncthreads();
#endif
  swap(&Cells[First + (I + 1) % Threads], EXPECTED, WORD(I + 1));
}

int main() {
  WORD *Cells = zeroed<WORD>(N);
  mark<<<Blocks, Threads>>>(Cells, zeroed<unsigned>(N));
  return finish(matches(Cells, N, [](size_t I) {
    return EXPECTED ? WORD(0) : WORD((I + Threads - 1) % Threads + 1);
  }));
}
