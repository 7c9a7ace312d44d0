// Intent: threads of a block wait at different __syncthreads() of the source. No data race comes of it
// here: each thread reads what it has written. The twins come to the same barriers together.
// RACY: branches
// RACY: loops -DLOOPS
// RACY: calls -DCALLS
// RACY: last-block -DLAST
// RACY: results -DRESULTS
// RACY: once -DONCE
// FIXED: fixed
// FIXED: fixed-loops -DLOOPS
// FIXED: fixed-calls -DCALLS
// FIXED: fixed-last -DLAST
// FIXED: fixed-results -DRESULTS
// FIXED: fixed-once -DONCE
// UNSEEN: collider: no value changes
// UNSEEN: oracle (calls results): PTX in a program does not say which call of an inlined function it was
#include "../check.h"

// The first 16 blocks tell the runtime of each barrier; the others look at them in line.
constexpr unsigned Threads = 128, Blocks = 20;
CONSTANT Scaled<50, 3> Rounds;

__device__ void meet(unsigned *Mine) {
  *Mine += 1;
  __syncthreads(); // RACE: calls
}

// Each thread counts the barriers that it has passed.
__global__ void work(unsigned *Out) {
#ifdef RACY
  const bool IsOdd = threadIdx.x / 32 % 2;
#else
  const bool IsOdd = blockIdx.x % 2;
#endif
  const unsigned At = blockIdx.x * Threads + threadIdx.x;
  (void)IsOdd;
#if defined(LOOPS)
  for (unsigned I = 0; I < Rounds + IsOdd; ++I) {
    Out[At] += 1;
    __syncthreads(); // RACE: loops
  }
  Out[At] += 1;
  __syncthreads(); // RACE: loops
#elif defined(CALLS)
  for (unsigned I = 0; I < Rounds; ++I)
    if (IsOdd)
      meet(Out + At);
    else
      meet(Out + At);
#elif defined(LAST)
  if (blockIdx.x + 1 == gridDim.x && IsOdd) {
    Out[At] += 1;
    __syncthreads(); // RACE: last-block
  } else {
    Out[At] += 1;
    __syncthreads(); // RACE: last-block
  }
#elif defined(RESULTS)
  for (unsigned I = 0; I < Rounds; ++I)
    if (IsOdd)
      Out[At] += __syncthreads_or(I == 0) ? 1 : 2; // RACE: results
    else
      Out[At] += __syncthreads_or(I == 0) ? 1 : 3; // RACE: results
#elif defined(ONCE)
  if (IsOdd) {
    Out[At] += 1;
    __syncthreads(); // RACE: once
    Out[At] += 1;
  } else {
    Out[At] += 2;
    __syncthreads(); // RACE: once
  }
#else
  for (unsigned I = 0; I < Rounds; ++I)
    if (IsOdd) {
      Out[At] += 1;
      __syncthreads(); // RACE: branches
      Out[At] += 1;
    } else {
      Out[At] += 2;
      __syncthreads(); // RACE: branches
    }
#endif
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  work<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Blocks * Threads, [](size_t I) {
    const unsigned IsOdd = I / Threads % 2;
    (void)IsOdd;
#if defined(LOOPS)
    return unsigned(Rounds) + IsOdd + 1;
#elif defined(CALLS)
    return unsigned(Rounds);
#elif defined(LAST)
    return 1u;
#elif defined(RESULTS)
    return 1 + (Rounds - 1) * (IsOdd ? 2 : 3);
#elif defined(ONCE)
    return 2u;
#else
    return Rounds * 2;
#endif
  }));
}
