// Intent: a cuda::barrier splits arrival and waiting; the racy variant reads
// before it has waited.
// TOO-SLOW: hybrid (fixed): a run takes the simulated GPU most of a minute
#include "../check.h"
#include <cuda/barrier>

constexpr unsigned Threads = 256, Blocks = 8, Rounds = 50;

__global__ void exchange(unsigned *Out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) unsigned char Storage[sizeof(Barrier)];
  __shared__ unsigned Tile[Threads];
  Barrier *Full = reinterpret_cast<Barrier *>(Storage);
  unsigned T = threadIdx.x, Sum = 0;
  if (T == 0)
    init(Full, Threads);
  __syncthreads();
  for (unsigned R = 1; R <= Rounds; ++R) {
    Tile[T] = R * Threads + T; // RACE
    auto Token = Full->arrive();
#ifndef RACY
    Full->wait(std::move(Token));
#endif
    Sum += Tile[(T + 32) % Threads]; // RACE
#ifdef RACY
    Full->wait(std::move(Token));
#endif
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    unsigned Neighbour = (I % Threads + 32) % Threads;
    return Threads * (Rounds * (Rounds + 1) / 2) + Rounds * Neighbour;
  }));
}
