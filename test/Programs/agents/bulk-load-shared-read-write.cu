// Intent: Table 3, cp.async.bulk (global->shared) SMEM RW: threads read the tile that a
// bulk copy still writes. The racy twins read before the wait at the mbarrier, or let the
// next copy begin while others read.
// Others: Compute Sanitizer and SuperCollider find it, iGUARD does not.
// FIXED: assembly
// FIXED: library -DLIBRARY
// RACY: no-wait -DNO_WAIT
// RACY: next-too-early -DEARLY
// RACY: no-wait-library -DNO_WAIT -DLIBRARY
// UNSEEN: collider (next-too-early): the copy is seldom under way while a check looks at a cell
// ARCH: sm_90
#include "asynchronous.h"

#include <cuda/barrier>

constexpr unsigned Threads = 64, Cells = 4 * Threads, Blocks = 2;
CONSTANT Scaled<100, 12> Rounds;

#ifdef LIBRARY
using Barrier = cuda::barrier<cuda::thread_scope_block>;
#else
using Barrier = uint64_t;
#endif

/// Thread 0 begins the copy.
__device__ __forceinline__ void await(Barrier &Full, unsigned R) {
#ifdef LIBRARY
  Full.wait_parity(R % 2);
#else
  wait(&Full, R % 2);
#endif
}

__global__ void sum(const unsigned *In, unsigned *Out) {
  __shared__ alignas(128) unsigned Tile[Cells];
  __shared__ alignas(Barrier) unsigned char Memory[sizeof(Barrier)];
  Barrier &Full = reinterpret_cast<Barrier &>(Memory);
  const unsigned T = threadIdx.x;
  unsigned Sum = 0;
  if (T == 0)
    initBarrier(reinterpret_cast<uint64_t *>(Memory), 1);
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
    if (T == 0) {
      fenceForCopies();
#ifdef LIBRARY
      cuda::device::memcpy_async_tx(Tile, In + R * Cells, // RACE: no-wait-library
                                    cuda::aligned_size_t<16>(sizeof Tile), Full);
      (void)cuda::device::barrier_arrive_tx(Full, 1, sizeof Tile);
#else
      expect(&Full, sizeof Tile);
      BULK_LOAD(Tile, In + R * Cells, sizeof Tile, &Full); // RACE: no-wait next-too-early
#endif
    }
#ifndef NO_WAIT
    await(Full, R);
#endif
#ifdef EARLY
    __syncthreads();
#endif
#pragma unroll 1
    for (unsigned I = T; I < Cells; I += Threads)
      Sum += Tile[Cells - 1 - I]; // RACE
#ifdef NO_WAIT
    await(Full, R);
#endif
#ifndef EARLY
    __syncthreads();
#endif
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  std::vector<unsigned> In;
  for (unsigned I = 0; I < Rounds * Cells; ++I)
    In.push_back(I + 1);
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  sum<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    unsigned Want = 0;
    for (unsigned J = I % Threads; J < Cells; J += Threads)
      Want += Rounds * (Rounds - 1) / 2 * Cells + Rounds * (Cells - J);
    return Want;
  }));
}
