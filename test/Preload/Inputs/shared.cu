// Static and dynamic shared memory; a template; printf on the device.
#include "common.h"
template <typename T> __global__ void fixedSize(T *Out) {
  __shared__ unsigned Tile[Threads];
  Out[blockIdx.x * Threads + threadIdx.x] = exchangeIn(Tile, 3);
}
__global__ void runTimeSize(unsigned *Out) {
  extern __shared__ unsigned Dynamic[];
  Out[blockIdx.x * Threads + threadIdx.x] = exchangeIn(Dynamic + 8, 5);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    printf("the kernel prints\n");
}
int main() {
  constexpr unsigned Blocks = 16;
  unsigned *Out;
  CHECK(cudaMalloc(&Out, 4 * Blocks * Threads));
  std::vector<unsigned> Host(Blocks * Threads);
  fixedSize<unsigned><<<Blocks, Threads>>>(Out);
  CHECK(cudaMemcpy(Host.data(), Out, 4 * Host.size(), cudaMemcpyDeviceToHost));
  for (unsigned I = 0; I < Host.size(); ++I)
    expect(Host[I], wanted(I % Threads, 3), "static tile");
  runTimeSize<<<Blocks, Threads, 4 * Threads + 32>>>(Out);
  CHECK(cudaMemcpy(Host.data(), Out, 4 * Host.size(), cudaMemcpyDeviceToHost));
  for (unsigned I = 0; I < Host.size(); ++I)
    expect(Host[I], wanted(I % Threads, 5), "dynamic tile");
  return finish();
}
