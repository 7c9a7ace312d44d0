// Intent: Table 3, cp.async GMEM RW: a thread of another warp overwrites the global cell
// that a thread's cp.async reads. The racy twins lack the barrier in between, or wait for
// the copy only behind it.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
// FIXED: assembly
// FIXED: intrinsic -DINTRINSIC
// FIXED: library -DLIBRARY
// RACY: no-barrier -DNO_BARRIER
// RACY: no-barrier-intrinsic -DNO_BARRIER -DINTRINSIC
// RACY: no-barrier-library -DNO_BARRIER -DLIBRARY
// RACY: late-wait -DLATE_WAIT
// ARCH: sm_80
#include "asynchronous.h"

#include <cuda/pipeline>
#include <cuda_pipeline.h>

constexpr unsigned Warp = 32, Threads = 2 * Warp, Blocks = 4;
CONSTANT Scaled<200, 12> Rounds;

#if defined(INTRINSIC)
#define COPY(To, From) __pipeline_memcpy_async(To, From, 4)
#define COMMIT __pipeline_commit()
#define WAIT __pipeline_wait_prior(0)
#elif defined(LIBRARY)
#define COPY(To, From) cuda::memcpy_async(To, From, 4, Pipe)
#define COMMIT Pipe.producer_commit()
#define WAIT cuda::pipeline_consumer_wait_prior<0>(Pipe)
#else
#define COPY(To, From) COPY4(To, From)
#define COMMIT commitCopies()
#define WAIT awaitCopies()
#endif

__global__ void pass(unsigned *Cells, unsigned *Out) {
  __shared__ unsigned Rows[Threads];
  const unsigned T = threadIdx.x, Other = (T + Warp) % Threads;
  unsigned *Mine = Cells + blockIdx.x * Threads, Sum = 0;
  [[maybe_unused]] auto Pipe = cuda::make_pipeline();
  for (unsigned R = 1; R <= Rounds; ++R) {
    COPY(&Rows[T], &Mine[T]); // RACE
    COMMIT;
#ifndef LATE_WAIT
    WAIT;
#endif
#ifndef NO_BARRIER
    __syncthreads();
#endif
    Mine[Other] = R * Threads + Other; // RACE
#ifdef LATE_WAIT
    WAIT;
#endif
    Sum += Rows[T];
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  constexpr unsigned N = Threads * Blocks;
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  pass<<<Blocks, Threads>>>(Cells, Out);
  return finish(matches(Out, N, [](size_t I) {
    return unsigned(Rounds * (Rounds - 1) / 2 * Threads + (Rounds - 1) * (I % Threads));
  }));
}
