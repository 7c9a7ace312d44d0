// Intent: a block writes global memory and arrives at an mbarrier in the shared memory
// of another block of its cluster, which waits there. The racy twin arrives relaxed.
// ARCH: sm_90
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"

constexpr unsigned Threads = 32, Blocks = 4;

__device__ unsigned shared(const void *P) {
  return unsigned(__cvta_generic_to_shared(P));
}

#ifdef RACY
#define ARRIVE "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];"
#else
#define ARRIVE "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
#endif

__device__ void clusterBarrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__global__ void pass(unsigned *Cells, unsigned *Out) {
  __shared__ uint64_t Barrier;
  unsigned T = threadIdx.x, Pair = blockIdx.x / 2 * Threads, Remote, IsOver = 0;
  if (T == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 32;\n\t"
                 "fence.mbarrier_init.release.cluster;" ::"r"(shared(&Barrier))
                 : "memory");
  clusterBarrier();
  if (blockIdx.x % 2 == 0) {
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;"
                 : "=r"(Remote)
                 : "r"(shared(&Barrier)));
    Cells[Pair + T] = 3 * T; // RACE
    asm volatile(ARRIVE ::"r"(Remote) : "memory");
  } else {
    while (!IsOver)
      asm volatile(
          "{\n\t.reg .pred P;\n\t"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P, [%1], 0;\n\t"
          "selp.u32 %0, 1, 0, P;\n\t}"
          : "=r"(IsOver)
          : "r"(shared(&Barrier))
          : "memory");
    Out[Pair + T] = Cells[Pair + Threads - 1 - T]; // RACE
  }
  // Nobody may leave while the other one can still arrive. This orders nothing.
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\t"
               "barrier.cluster.wait.aligned;" ::: "memory");
}

int main() {
  constexpr unsigned N = Threads * Blocks / 2;
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Blocks;
  Config.blockDim = Threads;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&Config, pass, Cells, Out));
  return finish(
      matches(Out, N, [](size_t I) { return unsigned(3 * (Threads - 1 - I % Threads)); }));
}
