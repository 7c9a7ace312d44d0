// Waits for a flag, and then for the block, where metadata mode does not look.
__device__ void hearAndMeet(unsigned *Flag) {
  if (threadIdx.x == 0) {
    while (atomicAdd(Flag, 0) == 0)
      ;
    __threadfence();
  }
  __syncthreads();
}
