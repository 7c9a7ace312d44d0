// The other translation unit of several-units.cu.
__device__ unsigned neighbour(const unsigned *Cells, unsigned I, unsigned N) {
#ifndef RACY
  __syncthreads();
#endif
  return Cells[(I + 1) % N]; // RACE
}
