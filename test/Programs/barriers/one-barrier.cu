// Intent: threads of a block may well come to a barrier from different lines of the source, if it is no
// __syncthreads(), or to different copies of one __syncthreads().
// CLEAN-ONLY
// FIXED: assembly -DASSEMBLY
// FIXED: mixed -DMIXED
// FIXED: intrinsic -DINTRINSIC
// FIXED: groups -DGROUPS
// FIXED: named -DNAMED
// FIXED: exits -DEXITS
// FIXED: unrolled -DUNROLLED
// FIXED: peeled -DPEELED
// FIXED: templates -DTEMPLATES
// FIXED: called -DCALLED
// FIXED: loaded -DLOADED
// ALSO: -O3
// ALSO: -O0
#include "../check.h"

#include <cooperative_groups.h>

constexpr unsigned Threads = 128, Blocks = 8, Rounds = 12;

template <unsigned N> __device__ void meet(unsigned *Mine) {
  *Mine += N;
  __syncthreads();
}
__device__ __noinline__ void meetFar(unsigned *Mine) {
  *Mine += 1;
  __syncthreads();
}

/// Comes to barrier 0 of the block, at a place of its own for each half.
__device__ void meetAt(bool IsOdd, unsigned *Mine) {
#if defined(ASSEMBLY)
  if (IsOdd)
    asm volatile("bar.sync 0;" ::: "memory");
  else
    asm volatile("bar.sync 0;" ::: "memory");
#elif defined(MIXED)
  if (IsOdd)
    asm volatile("barrier.sync 0;" ::: "memory");
  else
    __syncthreads();
#elif defined(INTRINSIC)
  if (IsOdd)
    __nvvm_barrier_sync(0);
  else
    __nvvm_barrier_sync(0);
#elif defined(GROUPS)
  if (IsOdd)
    cooperative_groups::this_thread_block().sync();
  else
    cooperative_groups::this_thread_block().sync();
#elif defined(NAMED)
  if (IsOdd) {
    asm volatile("bar.arrive 1, 128;" ::: "memory");
    asm volatile("bar.sync 2, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    asm volatile("bar.arrive 2, 128;" ::: "memory");
  }
#endif
  *Mine += 1;
}

__global__ void work(unsigned *Out, const unsigned *Limit) {
  const unsigned At = blockIdx.x * Threads + threadIdx.x;
  const bool IsOdd = threadIdx.x / 32 % 2;
#if defined(EXITS)
  // Warps leave one after the other; the others go on, to other barriers.
  Out[At] = Rounds;
  __syncthreads();
  for (unsigned Warp = 0; Warp < 2; ++Warp) {
    if (threadIdx.x / 32 == Warp)
      return;
    __syncthreads();
  }
  __syncthreads();
#elif defined(UNROLLED)
#pragma unroll
  for (unsigned I = 0; I < Rounds; ++I) {
    Out[At] += 1;
    __syncthreads();
  }
#elif defined(PEELED)
  // LLVM peels the first iteration, and unrolls the rest.
  for (unsigned I = 0; I < *Limit; ++I) {
    if (I == 0)
      Out[At] = 0;
    Out[At] += 1;
    if (blockIdx.x < gridDim.x)
      __syncthreads();
    else
      __syncthreads();
  }
#elif defined(TEMPLATES)
  for (unsigned I = 0; I < *Limit / 2; ++I)
    if (blockIdx.x % 2)
      meet<2>(Out + At);
    else {
      meet<1>(Out + At);
      meet<1>(Out + At);
    }
#elif defined(CALLED)
  for (unsigned I = 0; I < Rounds; ++I)
    if (IsOdd)
      meetFar(Out + At);
    else
      meetFar(Out + At);
#elif defined(LOADED)
  // The compiler cannot tell that all threads read the same.
  for (unsigned I = 0; I < *Limit; ++I) {
    Out[At] += 1;
    if (*Limit > I + 1)
      __syncthreads();
    else
      __syncthreads();
  }
#else
  for (unsigned I = 0; I < Rounds; ++I)
    meetAt(IsOdd, Out + At);
#endif
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  unsigned *Limit = upload(std::vector<unsigned>{Rounds});
  work<<<Blocks, Threads>>>(Out, Limit);
  return finish(
      matches(Out, Blocks * Threads, [](size_t) { return Rounds; }));
}
