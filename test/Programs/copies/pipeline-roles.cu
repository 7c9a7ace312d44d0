// Intent: a cuda::pipeline whose warps have roles: one copies, the others use what it
// has copied. The racy twin reads a stage again after it has been given back.
// ARCH: sm_80
#include "../check.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

constexpr unsigned Stages = 2, Threads = 64, Lanes = 32, Blocks = 1, Rounds = 4;

__device__ unsigned use(const uint4 &Cell) {
  return Cell.x + Cell.w; // RACE
}

__global__ void sum(const uint4 *In, unsigned *Out) {
  using Shared = cuda::pipeline_shared_state<cuda::thread_scope_block, Stages>;
  __shared__ alignas(Shared) char State[sizeof(Shared)];
  __shared__ uint4 Buffers[Stages][Lanes];
  auto Block = cooperative_groups::this_thread_block();
  unsigned Lane = threadIdx.x % Lanes, Sum = 0;
  bool IsProducer = threadIdx.x < Lanes;
  auto Pipe = cuda::make_pipeline(Block, reinterpret_cast<Shared *>(State),
                                  IsProducer ? cuda::pipeline_role::producer
                                             : cuda::pipeline_role::consumer);
  for (unsigned R = 0; R < Rounds; ++R) {
    if (IsProducer) {
      Pipe.producer_acquire();
      cuda::memcpy_async(&Buffers[R % Stages][Lane], &In[R * Lanes + Lane], // RACE
                         cuda::aligned_size_t<16>(16), Pipe);
      Pipe.producer_commit();
      continue;
    }
    Pipe.consumer_wait();
    Sum += use(Buffers[R % Stages][Lanes - 1 - Lane]);
    Pipe.consumer_release();
#ifdef RACY
    Sum += use(Buffers[R % Stages][Lane]);
#endif
  }
  if (!IsProducer)
    Out[blockIdx.x * Lanes + Lane] = Sum;
}

int main() {
  std::vector<uint4> In;
  for (unsigned I = 0; I < Rounds * Lanes; ++I)
    In.push_back(make_uint4(I, 0, 0, 1));
  unsigned *Out = zeroed<unsigned>(Blocks * Lanes);
  sum<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, Blocks * Lanes, [](size_t I) {
    return unsigned(Lanes * Rounds * (Rounds - 1) / 2 + Rounds * (Lanes - I % Lanes));
  }));
}
