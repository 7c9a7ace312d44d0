// Intent: the first lane of a warp releases what the others have written, as far as
// they have met it before, and acquires for them, as far as they meet it then; what a
// lane keeps to itself, nobody has heard of.
// FIXED: met
// FIXED: met-in-part -DMEET=meetInPart
// FIXED: met-in-block -DMEET=__syncthreads
// FIXED: each -DMEET=nothing -DEACH
// FIXED: acquire-release -DACQUIRE_RELEASE
// FIXED: one-awaits -DONE_AWAITS
// FIXED: one-awaits-in-part -DONE_AWAITS -DMEET_AGAIN=meetInPart
// RACY: one-awaits-not-met -DONE_AWAITS -DMEET_AGAIN=nothing
// RACY: one-acquires-not-met -DONE_AWAITS -DMEET_AGAIN=nothing -DACQUIRE_RELEASE
// RACY: not-met -DMEET=nothing
// RACY: not-met-in-block -DMEET=nothing -DREADERS=1
// RACY: not-met-acquire-release -DMEET=nothing -DACQUIRE_RELEASE
// UNSEEN: collider (not-met-in-block one-acquires-not-met one-awaits-not-met): no value changes while a check looks at it
#include "../check.h"

#ifndef MEET
#define MEET __syncwarp
#endif
#ifndef MEET_AGAIN
#define MEET_AGAIN __syncwarp
#endif
#ifndef READERS
#define READERS 3 // Blocks, the writers' included.
#endif

constexpr unsigned Threads = 64;

__device__ inline void nothing() {}

__device__ inline void meetInPart() {
  if (threadIdx.x % 32 < 8)
    __syncwarp(0x000000ff);
  else
    __syncwarp(0xffffff00);
  if (threadIdx.x % 32 == 0 || threadIdx.x % 32 >= 8)
    __syncwarp(0xffffff01);
}

__device__ void give(unsigned *Flag) {
#ifdef ACQUIRE_RELEASE
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(Flag) : "memory");
#else
  __threadfence();
  atomicAdd(Flag, 1);
#endif
}

__device__ void await(unsigned *Flag, unsigned Want) {
#ifdef ACQUIRE_RELEASE
  unsigned Has;
  do
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(Has)
                 : "l"(Flag)
                 : "memory");
  while (Has < Want);
#else
  while (atomicAdd(Flag, 0) < Want)
    ;
  __threadfence();
#endif
}

/// The first warp writes, and stays until of every block the last one has read.
__global__ void talk(unsigned *Words, unsigned *Flag, unsigned *Done,
                     unsigned *Out) {
  const unsigned Lane = threadIdx.x % 32;
#ifdef EACH
  constexpr unsigned Want = 32;
#else
  constexpr unsigned Want = 1;
#endif
  if (blockIdx.x == 0 && threadIdx.x < 32)
    Words[Lane] = Lane; // RACE: *not-met*
  MEET();
  if (blockIdx.x == 0 && threadIdx.x < 32) {
    if (Lane == 0 || Want > 1)
      give(Flag);
    while (*(volatile unsigned *)Done < READERS * 32)
      ;
  } else if (threadIdx.x >= 32) {
#ifdef ONE_AWAITS
    if (Lane == 0)
      await(Flag, Want);
    // Which comes after that, and orders nothing.
    __shfl_sync(~0u, 0, 0);
    MEET_AGAIN();
#else
    await(Flag, Want);
#endif
    Out[blockIdx.x * 32 + Lane] = Words[Lane]; // RACE: *not-met*
    atomicAdd(Done, 1);
  }
}

int main() {
  unsigned *Words = zeroed<unsigned>(32), *Flag = zeroed<unsigned>(1),
           *Done = zeroed<unsigned>(1), *Out = zeroed<unsigned>(READERS * 32);
  talk<<<READERS, Threads>>>(Words, Flag, Done, Out);
  return finish(matches(Out, READERS * 32, [](size_t I) { return I % 32; }));
}
