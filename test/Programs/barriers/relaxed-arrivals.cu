// Intent: a relaxed arrival at the cluster's barrier or at an mbarrier releases nothing
// and a relaxed wait acquires nothing, unless a fence of the same thread does.
// ARCH: sm_90
// FIXED: cluster
// FIXED: cluster-fenced -DFENCE -DRELAXED
// FIXED: mbarrier -DMBARRIER
// FIXED: mbarrier-fenced -DMBARRIER -DFENCE -DRELAXED
// FIXED: mbarrier-waits-fenced -DMBARRIER -DWAIT_RELAXED -DWAIT_FENCE
// RACY: cluster-relaxed -DRELAXED
// RACY: cluster-initialised -DRELAXED -DINIT_FENCE
// RACY: cluster-narrow-fence -DRELAXED -DNARROW_FENCE
// RACY: mbarrier-relaxed -DMBARRIER -DRELAXED
// RACY: mbarrier-waits-relaxed -DMBARRIER -DWAIT_RELAXED
// UNSEEN: collider: no value changes while a check looks at it
#include <cstdint>

#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 8, N = Threads * Blocks;

#ifdef RELAXED
#define ARRIVAL "relaxed"
#else
#define ARRIVAL "release"
#endif
#ifdef WAIT_RELAXED
#define WAIT "relaxed"
#else
#define WAIT "acquire"
#endif

__device__ void fenceBefore() {
#ifdef FENCE
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
#elif defined(NARROW_FENCE)
  asm volatile("fence.acq_rel.cta;" ::: "memory");
#elif defined(INIT_FENCE)
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

__device__ void clusterBarrier() {
  asm volatile("barrier.cluster.arrive.release;\n\t"
               "barrier.cluster.wait.acquire;" ::: "memory");
}

/// The first block of a cluster tells the second one.
__device__ void pass(uint32_t Barrier, unsigned Rank) {
#ifdef MBARRIER
  if (Rank == 0) {
    uint32_t Remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;"
                 : "=r"(Remote)
                 : "r"(Barrier));
    fenceBefore();
    asm volatile("mbarrier.arrive." ARRIVAL
                 ".cluster.shared::cluster.b64 _, [%0];" ::"r"(Remote)
                 : "memory");
    return;
  }
  uint32_t IsDone = 0;
  while (!IsDone)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity." WAIT
                 ".cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(IsDone)
                 : "r"(Barrier)
                 : "memory");
#ifdef WAIT_FENCE
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
#endif
#else
  fenceBefore();
  asm volatile("barrier.cluster.arrive." ARRIVAL ";" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

__global__ void exchange(unsigned *Words, unsigned *Out) {
  __shared__ uint64_t Barrier;
  const uint32_t At = uint32_t(__cvta_generic_to_shared(&Barrier));
  const unsigned Rank = blockIdx.x % 2, T = threadIdx.x;
  if (T == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(At), "r"(Threads)
                 : "memory");
  clusterBarrier();
  Words += blockIdx.x / 2 * Threads;
  if (Rank == 0)
    Words[T] = T + 1; // RACE
  pass(At, Rank);
  if (Rank == 1)
    Out[blockIdx.x / 2 * Threads + T] = Words[Threads - 1 - T]; // RACE
  clusterBarrier();
}

int main() {
  unsigned *Words = zeroed<unsigned>(N / 2), *Out = zeroed<unsigned>(N / 2);
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Blocks;
  Config.blockDim = Threads;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&Config, exchange, Words, Out));
  return finish(matches(
      Out, N / 2, [](size_t I) { return unsigned(Threads - I % Threads); }));
}
