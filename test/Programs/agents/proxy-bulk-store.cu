// Intent: threads write a tile, and after a barrier one of them stores it by a bulk copy,
// which reads shared memory through another proxy. The fence between the proxies may be
// the writers' or the copying thread's, and may be in a function. The racy twin has none.
// FIXED: by-writers
// FIXED: by-copier -DBY_COPIER
// FIXED: in-function -DIN_FUNCTION
// FIXED: of-shared -DOF_SHARED
// FIXED: library -DLIBRARY
// FIXED: cde -DCDE
// RACY: no-fence -DNO_FENCE
// RACY: fenced-too-early -DTOO_EARLY
// UNSEEN: collider: what a fence between proxies changes is not seen in values
// ARCH: sm_90
#include "asynchronous.h"

#ifdef LIBRARY
#include <cuda/ptx>
#endif
#ifdef CDE
#include <cuda/barrier>
#endif

constexpr unsigned Threads = 64, Blocks = 2;
CONSTANT Scaled<100, 12> Rounds;

__device__ __noinline__ void fenceInFunction() { fenceForCopies(); }

__device__ __forceinline__ void fenceOfWriters() {
#if defined LIBRARY
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
#elif defined CDE
  cuda::device::experimental::fence_proxy_async_shared_cta();
#elif defined OF_SHARED
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#elif defined IN_FUNCTION
  fenceInFunction();
#elif !defined BY_COPIER && !defined NO_FENCE && !defined TOO_EARLY
  fenceForCopies();
#endif
}

__global__ void fill(unsigned *Out) {
  __shared__ alignas(128) unsigned Tile[Threads];
  const unsigned T = threadIdx.x;
#ifdef TOO_EARLY
  fenceForCopies();
  __syncthreads();
#endif
  for (unsigned R = 0; R < Rounds; ++R) {
    const unsigned Row = (blockIdx.x * Rounds + R) * Threads;
    Tile[T] = Row + T + 1; // RACE
    fenceOfWriters();
    __syncthreads();
    if (T == 0) {
#ifdef BY_COPIER
      fenceForCopies();
#endif
      BULK_STORE(Out + Row, Tile, sizeof Tile); // RACE
      commitBulk();
      awaitBulkReads();
    }
    __syncthreads();
  }
  if (T == 0)
    awaitBulk();
}

int main() {
  const unsigned N = Blocks * Rounds * Threads;
  unsigned *Out = zeroed<unsigned>(N);
  fill<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, N, [](size_t I) { return unsigned(I + 1); }));
}
