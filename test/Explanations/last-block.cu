// Intent: where the last block adds up what the others stored before their fence and their
// atomic, the fence after that atomic is said to be missing, and where; with it there is no race.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 %s -o %t
// RUN: %python %S/Inputs/told.py %s \
// RUN:   "CRSan: data race: race between blocks, 4 bytes in global memory" \
// RUN:   "Block \([0-9]+,0,0\) learned by the atomic at (line {tell}( or line [0-9]+)?|[^ ]*:[0-9]+) that block \([0-9]+,0,0\) was done, but executed no __threadfence\(\) after it: put one behind the atomic at (line {tell}( or line [0-9]+)?|[^ ]*:[0-9]+), .*" \
// RUN:   -- %crsan run %t
// RUN: %python %S/Inputs/told.py %s --options detector=oracle:fences_synchronise=0 \
// RUN:   "Block \([0-9]+,0,0\) learned by the atomic at (line {tell}( or line [0-9]+)?|[^ ]*:[0-9]+) that block \([0-9]+,0,0\) was done, but executed no __threadfence\(\) after it: put one behind the atomic at (line {tell}( or line [0-9]+)?|[^ ]*:[0-9]+), .*" \
// RUN:   -- %crsan run %t

// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 -DFIXED %s -o %t.fixed
// RUN: %python %S/Inputs/told.py %s --clean -- %crsan run %t.fixed
// RUN: %python %S/Inputs/told.py %s --clean --options detector=oracle:fences_synchronise=0 -- %crsan run %t.fixed

__device__ unsigned Tickets;

__global__ void sum(const unsigned *In, unsigned *Partial, unsigned *Out) {
  __shared__ unsigned Local[64];
  __shared__ bool IsLast;
  const unsigned T = threadIdx.x;
  Local[T] = In[blockIdx.x * 64 + T];
  __syncthreads();
  for (unsigned Half = 32; Half; Half /= 2) {
    if (T < Half)
      Local[T] += Local[T + Half];
    __syncthreads();
  }
  if (T == 0) {
    Partial[blockIdx.x] = Local[0]; // @store
    __threadfence();
    IsLast = atomicInc(&Tickets, gridDim.x) == gridDim.x - 1; // @tell
#ifdef FIXED
    __threadfence();
#endif
  }
  __syncthreads();
  if (!IsLast)
    return;
  unsigned Total = 0;
  for (unsigned I = T; I < gridDim.x; I += 64)
    Total += Partial[I]; // @read
  atomicAdd(Out, Total);
}

int main() {
  unsigned *In, *Partial, *Out;
  cudaMalloc(&In, 16 * 64 * 4);
  cudaMalloc(&Partial, 16 * 4);
  cudaMalloc(&Out, 4);
  cudaMemset(In, 1, 16 * 64 * 4);
  cudaMemset(Out, 0, 4);
  sum<<<16, 64>>>(In, Partial, Out);
  return cudaDeviceSynchronize();
}
