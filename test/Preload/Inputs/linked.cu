// Relocatable code: the kernel calls a function of another file, which has a variable of its own.
#include "common.h"
__device__ unsigned exchangeElsewhere(unsigned *Tile);
__global__ void use(unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  Out[threadIdx.x] = exchangeElsewhere(Tile);
}
void setFactor(unsigned Value);
int main() {
  unsigned *Out, Host[Threads];
  setFactor(11);
  CHECK(cudaMalloc(&Out, sizeof(Host)));
  use<<<1, Threads>>>(Out);
  CHECK(cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost));
  for (unsigned I = 0; I < Threads; ++I)
    expect(Host[I], wanted(I, 11), "out");
  return finish();
}
