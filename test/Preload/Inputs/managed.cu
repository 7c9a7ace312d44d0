// Managed variables of the module, and cudaMallocManaged.
#include "common.h"
__managed__ unsigned Total = 5;
__managed__ unsigned Tile[Threads];
static __managed__ unsigned *Kept;
__global__ void use(unsigned *Out) {
  Out[threadIdx.x] = exchangeIn(Tile, 4);
  atomicAdd(&Total, threadIdx.x);
  Kept[threadIdx.x] = Out[threadIdx.x] + 1;
}
int main() {
  unsigned *Out;
  CHECK(cudaMallocManaged(&Out, 8 * Threads));
  Kept = Out + Threads;
  Total += 2;
  for (int Launch = 0; Launch < 2; ++Launch) {
    use<<<1, Threads>>>(Out);
    CHECK(cudaDeviceSynchronize());
    for (unsigned I = 0; I < Threads; ++I) {
      expect(Out[I], wanted(I, 4), "out");
      expect(Kept[I], wanted(I, 4) + 1, "kept");
    }
  }
  expect(Total, 7 + 2 * (Threads * (Threads - 1) / 2), "total");
  return finish();
}
