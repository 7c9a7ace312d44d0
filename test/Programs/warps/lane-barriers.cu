// Intent: lanes of one warp that meet others at different named barriers, or mbarriers,
// are told apart: what the one has heard of, the other has not.
// SIM-ONLY: by PTX, a barrier waits for the whole warp; an H100 ends all but "whole" with an
// illegal instruction, without checks as well
// FIXED: whole -DWHOLE
// FIXED: relayed -DRELAYED
// FIXED: own -DOWN
// FIXED: late -DOWN -DLATE
// RACY: halves
// RACY: odd -DODD
// RACY: behind-barrier -DLATE
// RACY: no-relay -DSTAGES
// UNSEEN: collider (halves odd behind-barrier no-relay): the two accesses hardly ever overlap in time
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 2, N = Threads * Blocks;

/// Of two groups of lanes in each warp.
__host__ __device__ unsigned groupOf(unsigned T) {
#ifdef ODD
  return T % 2;
#else
  return T / 16 % 2;
#endif
}

/// Whose word a thread reads: another warp's, of its own group or of the other.
__host__ __device__ unsigned partner(unsigned T) {
#ifdef OWN
  return (T + 32) % Threads;
#elif defined(ODD)
  return (T + 33) % Threads;
#else
  return (T + 48) % Threads;
#endif
}

__device__ void meet(unsigned Barrier, unsigned Number) {
  asm volatile("barrier.sync %0, %1;" ::"r"(Barrier), "r"(Number) : "memory");
}

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Words[Threads];
  const unsigned T = threadIdx.x, Group = groupOf(T);
  Words[T] = 0;
  __syncthreads();
#ifdef LATE
  // All have met at all of them before.
  for (unsigned B = 2; B < 4; ++B)
    if (Group == B % 2)
      meet(B, Threads / 2);
  __syncthreads();
#endif
  Words[T] = T; // RACE
#ifdef WHOLE
  meet(2, Threads);
#else
  if (Group == 0)
    meet(2, Threads / 2);
  else
    meet(3, Threads / 2);
#ifdef STAGES
  // The first group's barrier once more tells nothing of the second's.
  if (Group == 0)
    meet(2, Threads / 2);
#endif
#ifdef RELAYED
  // A warp's two groups meet, and then the groups of all warps.
  __syncwarp();
  if (Group == 0)
    meet(2, Threads / 2);
  else
    meet(3, Threads / 2);
#endif
#endif
  Out[blockIdx.x * Threads + T] = Words[partner(T)]; // RACE
  // Nobody leaves before all have read.
  __syncthreads();
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(
      matches(Out, N, [](size_t I) { return partner(I % Threads); }));
}
