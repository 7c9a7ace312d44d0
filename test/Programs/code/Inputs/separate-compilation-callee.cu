// The other translation unit of separate-compilation.cu.
__device__ void bump(unsigned *Counter) {
#ifdef RACY
  *Counter += 1; // RACE
#else
  atomicAdd(Counter, 1);
#endif
}
