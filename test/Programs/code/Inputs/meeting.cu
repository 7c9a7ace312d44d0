// Waits for a flag, and then for the block, where metadata mode does not look.
__device__ void hearAndMeet(unsigned *Flag) {
  if (threadIdx.x == 0) {
    while (atomicAdd(Flag, 0) == 0)
      ;
    __threadfence();
  }
  // By its number: a __syncthreads() would have to be the one of the other warps.
  asm volatile("barrier.sync 0;" ::: "memory");
}
