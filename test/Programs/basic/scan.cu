// Intent: an inclusive scan (Hillis and Steele) updates its array in place,
// where it needs a barrier between reading and writing.
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8;
CONSTANT Scaled<10, 3> Launches;

__global__ void scan(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Values[Threads];
  unsigned T = threadIdx.x, I = blockIdx.x * Threads + T;
  Values[T] = In[I];
  __syncthreads();
  for (unsigned Distance = 1; Distance < Threads; Distance *= 2) {
#ifdef RACY
    if (T >= Distance)
      Values[T] += Values[T - Distance]; // RACE
#else
    unsigned Left = T >= Distance ? Values[T - Distance] : 0;
    __syncthreads();
    Values[T] += Left;
#endif
    __syncthreads();
  }
  Out[I] = Values[T];
}

int main() {
  std::vector<unsigned> Values(Threads * Blocks), Want(Threads * Blocks);
  for (unsigned I = 0; I < Values.size(); ++I) {
    Values[I] = I * 2654435761u >> 20 | 1;
    Want[I] = Values[I] + (I % Threads ? Want[I - 1] : 0);
  }
  unsigned *In = upload(Values), *Out = zeroed<unsigned>(Values.size());
  // Each launch is one chance for the race; the result stays the same.
  for (unsigned Launch = 0; Launch < Launches; ++Launch)
    scan<<<Blocks, Threads>>>(In, Out);
  return finish(matches(Out, Values.size(), [&](size_t I) { return Want[I]; }));
}
