// Intent: the last block to finish reads what the others stored before their
// fence and their atomic ticket; that is not racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 64;

__global__ void sum(const unsigned *In, unsigned *Partial, unsigned *Tickets,
                    unsigned *Out) {
  __shared__ unsigned Local;
  __shared__ bool IsLast;
  if (threadIdx.x == 0)
    Local = 0;
  __syncthreads();
  atomicAdd(&Local, In[blockIdx.x * Threads + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    Partial[blockIdx.x] = Local;
    __threadfence();
    IsLast = atomicAdd(Tickets, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!IsLast)
    return;
  if (threadIdx.x == 0) {
    unsigned Total = 0;
    for (unsigned B = 0; B < gridDim.x; ++B)
      Total += Partial[B];
    *Out = Total;
  }
}

int main() {
  unsigned *In = upload(std::vector<unsigned>(Threads * Blocks, 7));
  unsigned *Partial = zeroed<unsigned>(Blocks);
  unsigned *Tickets = zeroed<unsigned>(1), *Out = zeroed<unsigned>(1);
  sum<<<Blocks, Threads>>>(In, Partial, Tickets, Out);
  return finish(
      matches(Out, 1, [](size_t) { return 7 * Threads * Blocks; }));
}
