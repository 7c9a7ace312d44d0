// Intent: whoever has read a counter by an atomic comes after all that was added until
// then, with a fence or without, and so does whoever that thread then meets or tells.
// FIXED: itself -DWHO=itself
// FIXED: itself-of-grid -DWHO=itself -DBLOCKS=4
// FIXED: itself-of-64-bits -DWHO=itself -DWIDE
// FIXED: met-in-warp -DWHO=inWarp
// FIXED: met-in-warp-of-grid -DWHO=inWarp -DBLOCKS=4
// FIXED: met-in-block -DWHO=inBlock -DBLOCKS=4
// FIXED: later -DWHO=later -DBLOCKS=4
// FIXED: polled -DWHO=polled
// FIXED: told -DWHO=told
// FIXED: told-of-grid -DWHO=told -DBLOCKS=4
// FIXED: told-and-met-in-warp -DWHO=toldAndMet -DMEET=__syncwarp
// FIXED: told-and-met-in-warp-of-grid -DWHO=toldAndMet -DMEET=__syncwarp -DBLOCKS=4
// FIXED: told-and-met-in-block-of-grid -DWHO=toldAndMet -DMEET=__syncthreads -DBLOCKS=4
// RACY: not-met -DWHO=inWarp -DMEET=nothing
// RACY: not-met-of-grid -DWHO=inWarp -DMEET=nothing -DBLOCKS=4
// RACY: told-not-met -DWHO=toldAndMet -DMEET=nothing
// RACY: told-not-met-of-grid -DWHO=toldAndMet -DMEET=nothing -DBLOCKS=4
// RACY: told-no-fence -DWHO=told -DRELEASE=nothing -DACQUIRE=nothing
// RACY: told-no-release -DWHO=told -DRELEASE=nothing
// RACY: told-no-acquire -DWHO=told -DACQUIRE=nothing
// RACY: told-no-acquire-of-grid -DWHO=told -DACQUIRE=nothing -DBLOCKS=4
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"

#ifdef WIDE
using Count = unsigned long long;
#else
using Count = unsigned;
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif
#ifndef MEET
#define MEET __syncwarp
#endif
#ifndef RELEASE
#define RELEASE __threadfence
#endif
#ifndef ACQUIRE
#define ACQUIRE __threadfence
#endif

/// The first lane of each of these warps of a block adds to the counter. One more warp
/// does not.
constexpr unsigned Warps = 3, Rounds = BLOCKS == 1 ? 3 : 1;

__device__ inline void nothing() {}

// Each resets the counter when all have added to it. `IsLast`: this thread has added the
// last time.
__device__ void itself(Count *Adds, unsigned *, unsigned, bool IsLast) {
  if (IsLast)
    *Adds = 0;
}

__device__ void inWarp(Count *Adds, unsigned *, unsigned, bool IsLast) {
  IsLast = __shfl_sync(~0u, IsLast, 0);
  MEET();
  if (IsLast && threadIdx.x % 32 == 1)
    *Adds = 0; // RACE: not-met*
}

__device__ void inBlock(Count *Adds, unsigned *, unsigned, bool IsLast) {
  if (__syncthreads_or(IsLast) && threadIdx.x == 32 * Warps)
    *Adds = 0;
}

__device__ void later(Count *Adds, unsigned *, unsigned, bool IsLast) {
  __syncthreads();
  if (IsLast)
    *Adds = 0;
}

__device__ void polled(Count *Adds, unsigned *, unsigned, bool) {
  if (threadIdx.x != 32 * Warps)
    return;
  while (*(volatile Count *)Adds < Warps)
    ;
  *Adds = 0;
}

/// The last one to add tells a thread of the first block. Returns whether this is
/// that thread.
__device__ bool tell(unsigned *Told, unsigned Round, bool IsLast) {
  if (IsLast) {
    RELEASE();
    atomicExch(Told, Round);
  }
  if (blockIdx.x > 0 || threadIdx.x != 32 * Warps)
    return false;
  while (atomicAdd(Told, 0) != Round)
    ;
  ACQUIRE();
  return true;
}

__device__ void told(Count *Adds, unsigned *Told, unsigned Round, bool IsLast) {
  if (tell(Told, Round, IsLast))
    *Adds = 0; // RACE: told-no-*
}

/// The lane behind the one that is told resets the counter.
__device__ void toldAndMet(Count *Adds, unsigned *Told, unsigned Round, bool IsLast) {
  const bool IsTold = __shfl_up_sync(~0u, tell(Told, Round, IsLast), 1);
  MEET();
  if (IsTold && threadIdx.x % 32 == 1)
    *Adds = 0; // RACE: told-not-met*
}

__global__ void count(Count *Adds, unsigned *Told, unsigned Before) {
  for (unsigned Round = Before + 1; Round <= Before + Rounds; ++Round) {
    bool IsLast = false;
    if (threadIdx.x % 32 == 0 && threadIdx.x < 32 * Warps)
      IsLast = atomicAdd(Adds, 1) == BLOCKS * Warps - 1; // RACE: *no*
    WHO(Adds, Told, Round, IsLast);
    if (BLOCKS == 1)
      __syncthreads();
  }
}

int main() {
  Count *Adds = zeroed<Count>(1);
  unsigned *Told = zeroed<unsigned>(1);
  // Metadata mode forgets less in a kernel's first grid.
  for (unsigned Launch = 0; Launch < 2; ++Launch)
    count<<<BLOCKS, 32 * (Warps + 1)>>>(Adds, Told, Launch * Rounds);
  return finish(matches(Adds, 1, [](size_t) { return 0; }));
}
