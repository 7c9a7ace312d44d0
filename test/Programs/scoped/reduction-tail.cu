// Intent: the last steps of a reduction are within a warp, whose lanes do not run
// in step: each step needs a barrier of the warp.
// FIXED: shared
// FIXED: global -DGLOBAL
// RACY: shared-last-missing -DLAST_STEP=nothing
// RACY: global-last-missing -DGLOBAL -DLAST_STEP=nothing
// RACY: global-all-missing -DGLOBAL -DSTEP=nothing
// UNSEEN: collider (global-last-missing): no value changes while a check looks at it
#include "../check.h"
#include "atomics.h"

#ifndef STEP
#define STEP __syncwarp
#endif
#ifndef LAST_STEP
#define LAST_STEP STEP
#endif

constexpr unsigned Threads = 64;
CONSTANT Scaled<2048, 8> Blocks;

__global__ void reduce(const unsigned *In, unsigned *Global, unsigned *Out) {
#ifdef GLOBAL
  unsigned *Data = Global + blockIdx.x * Threads;
#else
  __shared__ unsigned Data[Threads];
#endif
  unsigned Thread = threadIdx.x;
  unsigned Sum = In[blockIdx.x * Threads + Thread];
  Data[Thread] = Sum;
  __syncthreads();
  if (Thread < 32) {
    Data[Thread] = Sum = Sum + Data[Thread + 32]; // RACE: global-all-missing
    STEP();
    if (Thread < 16)
      Data[Thread] = Sum = Sum + Data[Thread + 16]; // RACE: global-all-missing
    STEP();
    if (Thread < 8)
      Data[Thread] = Sum = Sum + Data[Thread + 8]; // RACE: global-all-missing
    STEP();
    if (Thread < 4)
      Data[Thread] = Sum = Sum + Data[Thread + 4]; // RACE: global-all-missing
    STEP();
    if (Thread < 2)
      Data[Thread] = Sum = Sum + Data[Thread + 2]; // RACE
    LAST_STEP();
    if (Thread == 0)
      Data[Thread] = Sum = Sum + Data[Thread + 1]; // RACE
  }
  if (Thread == 0)
    Out[blockIdx.x] = Data[0];
}

int main() {
  std::vector<unsigned> In(Blocks * Threads);
  for (size_t I = 0; I < In.size(); ++I)
    In[I] = I;
  unsigned *Out = zeroed<unsigned>(Blocks);
  reduce<<<Blocks, Threads>>>(upload(In), zeroed<unsigned>(In.size()), Out);
  return finish(matches(Out, Blocks, [](size_t B) {
    return unsigned(B * Threads * Threads + Threads * (Threads - 1) / 2);
  }));
}
