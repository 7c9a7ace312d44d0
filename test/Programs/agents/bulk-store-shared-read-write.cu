// Intent: Table 3, cp.async.bulk (shared->global) SMEM RW: threads overwrite the tile that
// a bulk copy still reads. The racy twins lack the wait for the copy's reads, or the
// barrier behind it.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
// FIXED: assembly
// FIXED: library -DLIBRARY
// RACY: no-wait -DNO_WAIT
// RACY: no-barrier -DNO_BARRIER
// RACY: no-wait-library -DNO_WAIT -DLIBRARY
// ARCH: sm_90
#include "asynchronous.h"

#ifdef LIBRARY
#include <cuda/ptx>
#endif

constexpr unsigned Threads = 64, Blocks = 2;
CONSTANT Scaled<100, 12> Rounds;

#ifdef LIBRARY
namespace ptx = cuda::ptx;
#define STORE(To, From, Bytes)                                                 \
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, To, From, Bytes)
#define COMMIT ptx::cp_async_bulk_commit_group()
#define WAIT ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>())
#else
#define STORE BULK_STORE
#define COMMIT commitBulk()
#define WAIT awaitBulkReads()
#endif

__global__ void fill(unsigned *Out) {
  __shared__ alignas(128) unsigned Tile[Threads];
  const unsigned T = threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    const unsigned Row = (blockIdx.x * Rounds + R) * Threads;
    Tile[T] = Row + T + 1; // RACE
    fenceForCopies();
    __syncthreads();
    if (T == 0) {
      STORE(Out + Row, Tile, sizeof Tile); // RACE
      COMMIT;
#ifndef NO_WAIT
      WAIT;
#endif
    }
#ifndef NO_BARRIER
    __syncthreads();
#endif
  }
  if (T == 0)
    awaitBulkReads(); // The block's shared memory ends with it.
}

int main() {
  const unsigned N = Blocks * Rounds * Threads;
  unsigned *Out = zeroed<unsigned>(N);
  fill<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, N, [](size_t I) { return unsigned(I + 1); }));
}
