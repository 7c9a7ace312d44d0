// Intent: two blocks of a cluster meet at the cluster's barrier, aligned or not, and
// read each other's shared memory, with warps split before.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
// ARCH: sm_90
#include "split.h"

__device__ unsigned *inNeighbour(unsigned *Shared) {
  unsigned *Theirs;
  unsigned Rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(Rank));
  asm("mapa.u64 %0, %1, %2;" : "=l"(Theirs) : "l"(Shared), "r"(Rank ^ 1));
  return Theirs;
}

template <bool IsAligned> __device__ void arrive() {
  if (IsAligned)
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  else
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
template <bool IsAligned> __device__ void wait() {
  if (IsAligned)
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  else
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

template <bool IsAligned> struct Cluster : Meeting {
  static constexpr unsigned ClusterSize = 2;
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    arrive<IsAligned>();
    wait<IsAligned>();
    const unsigned Block = blockIdx.x % 2;
    const bool Right =
        B::shows(B::partner(Threads, R), R, inNeighbour(Cells.Near),
                 Block ? Cells.Far - Words : Cells.Far + Words);
    // Nobody ends while its memory is read.
    arrive<IsAligned>();
    wait<IsAligned>();
    return Right;
  }
};

/// Something is done between arrival and waiting.
struct Between : Meeting {
  static constexpr unsigned ClusterSize = 2;
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    arrive<false>();
    const bool Mine = Cells.shows(threadIdx.x, R);
    wait<false>();
    bool Right = Mine & Cells.shows(B::partner(Threads, R), R);
    arrive<false>();
    wait<false>();
    return Right;
  }
};

int main() {
  bool Right = RUN_SPLITS(Cluster<false>);
  Right &= RUN_SPLITS(Cluster<true>);
  Right &= RUN_SPLITS(Between);
  return finish(Right);
}
