// Intent: threads of a block come to one __syncthreads() of the source in different iterations of a loop. No
// data race comes of it here: each thread reads what it has written. The twins come to it in the same iterations,
// though the compiler cannot tell.
// RACY: alternating
// RACY: unrolled -DUNROLLED
// RACY: partly -DPARTLY
// RACY: outer -DOUTER
// RACY: inlined -DINLINED
// RACY: last-block -DLAST
// FIXED: fixed
// FIXED: fixed-unrolled -DUNROLLED
// FIXED: fixed-partly -DPARTLY
// FIXED: fixed-outer -DOUTER
// FIXED: fixed-inlined -DINLINED
// FIXED: fixed-last -DLAST
// UNSEEN: collider: no value changes
#include "../check.h"

// The first 16 blocks tell the runtime of each barrier; the others look at them in line.
constexpr unsigned Threads = 128, Blocks = 20;

__device__ void meet(unsigned *Mine) {
  *Mine += 1;
  __syncthreads(); // RACE: inlined
}

// Each thread passes half of all barriers.
__global__ void work(unsigned *Out, const unsigned *Flags, unsigned Rounds) {
#ifdef RACY
  const unsigned First = threadIdx.x / 32 % 2;
#else
  const unsigned First = Flags[blockIdx.x]; // The same for all threads of the block.
#endif
  const unsigned At = blockIdx.x * Threads + threadIdx.x;
#if defined(UNROLLED)
  // The compiler unrolls all of it.
  for (unsigned I = 0; I < 4; ++I)
    if ((First + I) % 2) {
      Out[At] += 1;
      __syncthreads(); // RACE: unrolled
    }
#elif defined(PARTLY)
#pragma unroll 4
  for (unsigned I = 0; I < 32; ++I)
    if ((First + I) % 2) {
      Out[At] += 1;
      __syncthreads(); // RACE: partly
    }
#elif defined(OUTER)
  for (unsigned I = 0; I < Rounds; ++I)
    for (unsigned J = 0; J < 3; ++J)
      if ((First + I) % 2) {
        Out[At] += 1;
        __syncthreads(); // RACE: outer
      }
#elif defined(INLINED)
  for (unsigned I = 0; I < Rounds; ++I)
    if ((First + I) % 2)
      meet(Out + At);
#elif defined(LAST)
  for (unsigned I = 0; I < Rounds; ++I)
    if ((First * (blockIdx.x + 1 == gridDim.x) + I) % 2) {
      Out[At] += 1;
      __syncthreads(); // RACE: last-block
    }
#else
  for (unsigned I = 0; I < Rounds; ++I)
    if ((First + I) % 2) {
      Out[At] += 1;
      __syncthreads(); // RACE: alternating
    }
#endif
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  std::vector<unsigned> Given(Blocks);
  for (unsigned I = 0; I < Blocks; ++I)
    Given[I] = I % 2;
  unsigned *Flags = upload(Given);
  work<<<Blocks, Threads>>>(Out, Flags, 12);
  return finish(matches(Out, Blocks * Threads, [](size_t) {
#if defined(UNROLLED)
    return 2u;
#elif defined(PARTLY)
    return 16u;
#elif defined(OUTER)
    return 18u;
#else
    return 6u;
#endif
  }));
}
