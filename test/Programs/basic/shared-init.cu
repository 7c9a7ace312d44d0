// Intent: all threads of a block initialise one shared word with the same
// value; one thread should.
#include "../check.h"

constexpr int Threads = 128, Blocks = 16;

__global__ void count(const int *In, int *Out) {
  __shared__ int Sum;
#ifdef RACY
  Sum = 0; // RACE
#else
  if (threadIdx.x == 0)
    Sum = 0;
#endif
  __syncthreads();
  atomicAdd(&Sum, In[blockIdx.x * Threads + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0)
    Out[blockIdx.x] = Sum;
}

int main() {
  int *In = upload(std::vector<int>(Threads * Blocks, 3));
  int *Out = zeroed<int>(Blocks);
  count<<<Blocks, Threads>>>(In, Out);
  return finish(matches(Out, Blocks, [](size_t) { return 3 * Threads; }));
}
