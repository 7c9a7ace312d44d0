// Intent: two instantiations of one kernel template race on the same lines.
// TOO-SLOW: hybrid (racy): a run takes the simulated GPU most of a minute
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8, Rounds = 50;

template <typename T> __global__ void exchange(T *Out) {
  __shared__ T Tile[Threads];
  T Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Tile[threadIdx.x] = T(R * Threads + threadIdx.x); // RACE
#ifndef RACY
    __syncthreads();
#endif
    Sum += Tile[(threadIdx.x + 32) % Threads]; // RACE
    __syncthreads();
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

template <typename T> bool works() {
  T *Out = zeroed<T>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Out);
  return matches(Out, Threads * Blocks, [](size_t I) {
    unsigned Neighbour = (I % Threads + 32) % Threads;
    return T(Threads * (Rounds * (Rounds + 1) / 2) + Rounds * Neighbour);
  });
}

int main() {
  bool Right = works<unsigned>();
  return finish(works<double>() && Right);
}
