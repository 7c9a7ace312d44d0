// Intent: lanes whose warp was split copy asynchronously and wait for their copies, or
// sleep, each for a time of its own, before the block meets.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "split.h"
#include <cooperative_groups.h>

__device__ unsigned Table[Threads];

struct Copy : Meeting {
  unsigned *Buffer;
  __device__ void begin() {
    __shared__ unsigned Copied[2 * Threads];
    Buffer = Copied;
  }
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    const unsigned T = threadIdx.x, Turn = R % 2 * Threads;
    const unsigned To = __cvta_generic_to_shared(Buffer + Turn + T);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(To),
                 "l"(Table + (T * 5 + R) % Threads)
                 : "memory");
    if (T % 2)
      asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::
                       : "memory");
    else
      asm volatile("cp.async.wait_all;" ::: "memory");
    asm volatile("barrier.sync 0;" ::: "memory");
    const unsigned From = B::partner(Threads, R);
    if (B::isGone(T, R + 1))
      return true;
    return Buffer[Turn + From] == (From * 5 + R) % Threads * 3 + 1 &&
           Cells.shows(From, R);
  }
};

struct Sleep : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    __nanosleep(laneOf() * 8);
    cooperative_groups::this_thread_block().sync();
    return Cells.shows(B::partner(Threads, R), R);
  }
};

/// Some lanes sleep, before the warp and then the block meets.
struct SomeSleep : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    if ((laneOf() + R) % 5 == 0)
      __nanosleep(100);
    __syncwarp(B::lanes(R));
    const bool Right = Cells.shows(B::partner(32, R), R);
    cooperative_groups::this_thread_block().sync();
    return Right & Cells.shows(B::partner(Threads, R), R);
  }
};

int main() {
  unsigned Values[Threads];
  for (unsigned T = 0; T < Threads; ++T)
    Values[T] = T * 3 + 1;
  CHECK(cudaMemcpyToSymbol(Table, Values, sizeof(Values)));
  bool Right = RUN_SPLITS(Copy);
  Right &= RUN_SPLITS(Sleep);
  Right &= RUN_SPLITS(SomeSleep);
  return finish(Right);
}
