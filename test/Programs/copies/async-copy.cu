// Intent: asynchronous copies (cp.async) into shared memory, waited for before
// they are read; that is not racy.
// CLEAN-ONLY
// TOO-SLOW: hybrid: a run takes the simulated GPU most of a minute
#include "../check.h"
#include <cuda_pipeline.h>

constexpr unsigned Threads = 128, Blocks = 8, Rounds = 30;
constexpr unsigned N = Threads * Blocks;

__global__ void gather(const int4 *In, int *Out) {
  __shared__ int4 Stages[2][Threads];
  unsigned T = threadIdx.x, I = blockIdx.x * Threads + T;
  int Sum = 0;
  __pipeline_memcpy_async(&Stages[0][T], &In[I], sizeof(int4));
  __pipeline_commit();
  for (unsigned R = 0; R < Rounds; ++R) {
    __pipeline_memcpy_async(&Stages[(R + 1) % 2][T], &In[(I + R * 32) % N],
                            sizeof(int4));
    __pipeline_commit();
    Out[I] += 1;
    __pipeline_wait_prior(1);
    __syncthreads();
    int4 Value = Stages[R % 2][(T + 32) % Threads];
    Sum += Value.x + Value.w;
    __syncthreads();
  }
  __pipeline_wait_prior(0);
  Out[I] += Sum;
}

int main() {
  std::vector<int4> Values(N, int4{5, 0, 0, 2});
  int4 *In = upload(Values);
  int *Out = zeroed<int>(N);
  gather<<<Blocks, Threads>>>(In, Out);
  return finish(matches(Out, N, [](size_t) { return int(Rounds * 8); }));
}
