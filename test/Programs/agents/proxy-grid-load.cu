// Intent: blocks write a table, meet at a barrier of the grid, and bring what the next block
// has written by a bulk copy. The fence between the proxies may be the writers' or the
// copying thread's; what the kernel before has written needs none. The racy twin has none.
// FIXED: by-copier
// FIXED: by-writers -DBY_WRITERS
// FIXED: other-kernel -DOTHER_KERNEL
// RACY: no-fence -DNO_FENCE
// UNSEEN: collider: what a fence between proxies changes is not seen in values
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 64, Blocks = 4;

__device__ unsigned Arrived;

/// All threads of all blocks.
__device__ void meet() {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&Arrived, 1);
    while (atomicAdd(&Arrived, 0) < Blocks)
      ;
    __threadfence();
  }
  __syncthreads();
}

__device__ __forceinline__ void put(unsigned *Table) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  Table[I] = I * I + 1; // RACE
}

__global__ void write(unsigned *Table) { put(Table); }

__global__ void turn(unsigned *Table, unsigned *Out) {
  __shared__ alignas(128) unsigned Tile[Threads];
  __shared__ uint64_t Full;
  const unsigned T = threadIdx.x, Next = (blockIdx.x + 1) % Blocks;
#ifndef OTHER_KERNEL
  put(Table);
#endif
#ifdef BY_WRITERS
  fenceForCopies();
#endif
  meet();
  if (T == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\t"
                 "fence.mbarrier_init.release.cluster;" ::"r"(shared(&Full))
                 : "memory");
  __syncthreads();
  if (T == 0) {
    expect(&Full, sizeof Tile);
#if !defined BY_WRITERS && !defined OTHER_KERNEL && !defined NO_FENCE
    fenceForCopies();
#endif
    BULK_LOAD(Tile, Table + Next * Threads, sizeof Tile, &Full); // RACE
  }
  wait(&Full, 0);
  Out[blockIdx.x * Threads + T] = Tile[T];
}

int main() {
  const unsigned N = Blocks * Threads;
  unsigned *Table = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
#ifdef OTHER_KERNEL
  write<<<Blocks, Threads>>>(Table);
#endif
  turn<<<Blocks, Threads>>>(Table, Out);
  return finish(matches(Out, N, [](size_t I) {
    const unsigned From = unsigned((I + Threads) % (Blocks * Threads));
    return From * From + 1;
  }));
}
