// Intent: kernels that start before their predecessors have ended wait for them with
// griddepcontrol.wait, after their warps were split; each adds to what the last one left.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
// ARCH: sm_90
#include "split.h"

CONSTANT Scaled<40, 4> Links;

/// Publishes in shared memory, which is each block's own, and adds to what another
/// thread's predecessor has left.
template <Split S>
__global__ void link(const unsigned *From, unsigned *To, unsigned *Far,
                     unsigned Round) {
  __shared__ unsigned Near[Words];
  Board<S> B{Near, Far + (Round * gridDim.x + blockIdx.x) * Words};
  B.publish(0);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const unsigned T = threadIdx.x;
  const unsigned Block = (blockIdx.x + 1) % gridDim.x;
  To[blockIdx.x * Threads + T] =
      From[Block * Threads + (T + 37) % Threads] + B.shows(T, 0);
  B.publish(1);
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("barrier.sync 0;" ::: "memory");
  if (!B.shows((T + 5) % Threads, 1))
    To[blockIdx.x * Threads + T] = 0;
}

template <Split S> bool runLinks() {
  // A kernel publishes before its predecessor has ended: each has cells of its own.
  unsigned *Far = zeroed<unsigned>(Links * Blocks * Words);
  unsigned *Sums[] = {zeroed<unsigned>(Blocks * Threads),
                      zeroed<unsigned>(Blocks * Threads)};
  cudaLaunchAttribute Early = {};
  Early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  Early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Blocks;
  Config.blockDim = Threads;
  Config.attrs = &Early;
  Config.numAttrs = 1;
  for (unsigned R = 0; R < Links; ++R)
    CHECK(cudaLaunchKernelEx(&Config, link<S>, (const unsigned *)Sums[R % 2],
                             Sums[(R + 1) % 2], Far, R));
  const unsigned N = Links;
  return matches(Sums[N % 2], Blocks * Threads, [=](size_t) { return N; });
}

int main() {
  bool Right = runLinks<Split::Line>();
  Right &= runLinks<Split::Loop>();
  Right &= runLinks<Split::If>();
  Right &= runLinks<Split::Branches>();
  Right &= runLinks<Split::Switch>();
  Right &= runLinks<Split::Call>();
  return finish(Right);
}
