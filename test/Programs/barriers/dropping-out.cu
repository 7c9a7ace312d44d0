// Intent: threads leave a barrier for good when they have nothing more to add, so that
// ever fewer have to come. In the racy twin they leave before they have written.
#include "../check.h"
#include <cuda/barrier>

constexpr unsigned Threads = 64, Blocks = 2;

__global__ void sum(unsigned *Out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) unsigned char Storage[sizeof(Barrier)];
  __shared__ unsigned Sums[Threads];
  Barrier &Phase = *reinterpret_cast<Barrier *>(Storage);
  unsigned T = threadIdx.x, Sum = T + blockIdx.x;
  if (T == 0)
    init(&Phase, Threads);
  __syncthreads();
  for (unsigned Half = Threads / 2; Half > 0; Half /= 2) {
    if (T >= Half) {
#ifdef RACY
      Phase.arrive_and_drop();
      Sums[T] = Sum; // RACE
#else
      Sums[T] = Sum;
      Phase.arrive_and_drop();
#endif
      return;
    }
    Phase.arrive_and_wait();
    Sum += Sums[T + Half]; // RACE
  }
  Out[blockIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks);
  sum<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Blocks, [](size_t B) {
    return unsigned(Threads * (Threads - 1) / 2 + Threads * B);
  }));
}
