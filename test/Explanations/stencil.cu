// Intent: a stencil in place races between lanes, warps and blocks. What orders blocks orders the
// others as well, so each schedule's headline is the race between blocks, and that is explained.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 %s -o %t
// RUN: %python %S/Inputs/told.py %s --seeds 10 \
// RUN:   "CRSan: data race: race between blocks, 4 bytes in global memory" \
// RUN:   "Nothing orders the two: .* Between blocks, a new launch or a barrier of the grid orders; .*" \
// RUN:   "also seen as: missing warp barrier" \
// RUN:   "not:CRSan: data race: missing warp barrier.*" "not:CRSan: data race: race within a block.*" \
// RUN:   "not:.*without __syncwarp.*" -- %crsan run %t
// RUN: %python %S/Inputs/told.py %s --seeds 10 --options detector=oracle \
// RUN:   "The threads are in different blocks, and no release and acquire of a scope that includes both is between them\..*" \
// RUN:   "not:.*__syncwarp.*" "not:No barrier.*" -- %crsan run %t

// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 -DFIXED %s -o %t.fixed
// RUN: %python %S/Inputs/told.py %s --clean -- %crsan run %t.fixed
// RUN: %python %S/Inputs/told.py %s --clean --options detector=oracle -- %crsan run %t.fixed

__global__ void smooth(const int *In, int *Out, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I > 0 && I < N - 1)
    Out[I] = (In[I - 1] + In[I] + In[I + 1]) / 3;
}

int main() {
  int *A, *B;
  cudaMalloc(&A, 256 * 4);
  cudaMalloc(&B, 256 * 4);
  cudaMemset(A, 0, 256 * 4);
  cudaMemset(B, 0, 256 * 4);
#ifdef FIXED
  smooth<<<4, 64>>>(A, B, 256);
#else
  smooth<<<4, 64>>>(A, A, 256);
#endif
  return cudaDeviceSynchronize();
}
