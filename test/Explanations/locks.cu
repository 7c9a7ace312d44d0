// Intent: of two locks for one counter it is said that they are two, whatever the fences; of one
// lock that is given back without a fence, that the fence is missing. Either remedy mends it.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 -DTWO %s -o %t
// RUN: %python %S/Inputs/told.py %s --seeds 10 \
// RUN:   "CRSan: data race: improper lock, 4 bytes in global memory" \
// RUN:   "Both threads .*: one lock has to protect .*line {add}.*" \
// RUN:   "not:.*(given its lock back|giving a lock back).*" -- %crsan run %t

// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 -DUNFENCED %s -o %t
// RUN: %python %S/Inputs/told.py %s --some --seeds 10 \
// RUN:   "Both threads use locks, but the earlier thread has given its lock back and executed no fence, barrier or release since line {add}: put a __threadfence\(\) in front of what gives the lock back." \
// RUN:   -- %crsan run %t

// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 %s -o %t.fixed
// RUN: %python %S/Inputs/told.py %s --clean -- %crsan run %t.fixed
// RUN: %python %S/Inputs/told.py %s --clean --options detector=oracle -- %crsan run %t.fixed

__device__ unsigned Locks[2], Counter;

__global__ void add() {
#ifdef TWO
  unsigned *Lock = &Locks[blockIdx.x % 2];
#else
  unsigned *Lock = &Locks[0];
#endif
  if (threadIdx.x)
    return;
  for (int I = 0; I < 4; ++I) {
    while (atomicCAS(Lock, 0u, 1u))
      ;
    __threadfence();
    Counter += 1; // @add
#ifndef UNFENCED
    __threadfence();
#endif
    atomicExch(Lock, 0u);
  }
}

int main() {
  add<<<8, 32>>>();
  return cudaDeviceSynchronize();
}
