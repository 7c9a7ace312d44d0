// Intent: a plain update of one counter by many threads needs an atomic, which no fence or
// barrier is; that is what is said, by each detector, and what mends it.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=hybrid -O2 -gline-tables-only --offload-arch=sm_90 %s -o %t
// RUN: %python %S/Inputs/told.py %s \
// RUN:   "Both threads read this location, change the value and write it back, so one of the two changes may be lost; fences do not help. Make line {add} an atomic update \(atomicAdd, for instance\), or let one lock protect the two accesses at line {add}." \
// RUN:   "not:.*(__threadfence|__syncwarp|__syncthreads).*" -- %crsan run %t
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 -gline-tables-only --offload-arch=sm_90 %s -o %t.collider
// RUN: %python %S/Inputs/told.py %s --some --seeds 10 \
// RUN:   ".* The thread reads the location, changes the value and writes it back: where several threads do so, each has to by an atomic \(atomicAdd, for instance\) or under one lock." \
// RUN:   -- %crsan run %t.collider
// RUN: %python %S/Inputs/told.py %s --options detector=oracle \
// RUN:   "Both threads read this location, change the value and write it back, so one of the two changes may be lost; fences do not help. Make line {add} an atomic update \(atomicAdd, for instance\), or let one lock protect the two accesses at line {add}." \
// RUN:   "not:.*(__threadfence|__syncwarp|__syncthreads).*" -- %crsan run %t

// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=hybrid -O2 --offload-arch=sm_90 -DFIXED %s -o %t.fixed
// RUN: %python %S/Inputs/told.py %s --clean -- %crsan run %t.fixed
// RUN: %python %S/Inputs/told.py %s --clean --options detector=oracle -- %crsan run %t.fixed

__global__ void count(const unsigned *Keys, unsigned *Histogram, unsigned W) {
  const unsigned Key = Keys[blockIdx.x * blockDim.x + threadIdx.x];
#ifdef FIXED
  atomicAdd(&Histogram[Key % 8], W);
#else
  Histogram[Key % 8] += W; // @add
#endif
}

int main() {
  unsigned *Keys, *Histogram, Host[512];
  for (unsigned I = 0; I < 512; ++I)
    Host[I] = I * 2654435761u >> 7;
  cudaMalloc(&Keys, sizeof(Host));
  cudaMalloc(&Histogram, 8 * 4);
  cudaMemcpy(Keys, Host, sizeof(Host), cudaMemcpyHostToDevice);
  cudaMemset(Histogram, 0, 8 * 4);
  count<<<4, 128>>>(Keys, Histogram, 3);
  return cudaDeviceSynchronize();
}
