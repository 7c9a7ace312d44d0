// Variables of the module: __device__, static __device__, initialised, __constant__, and their
// copies by symbol.
#include "common.h"
__constant__ unsigned Factors[4] = {1, 2, 3, 4};
__constant__ int Set[Threads];
__device__ unsigned Counter;
static __device__ unsigned Slots[Threads] = {7, 8, 9};
__device__ unsigned Tile[Threads];
__device__ const int Table[] = {10, 20, 30, 40};
__device__ unsigned *Pointer = Slots;
__global__ void use(unsigned *Out) {
  Out[threadIdx.x] = exchangeIn(Tile, Factors[2]) + Set[threadIdx.x] + Table[threadIdx.x % 4];
  atomicAdd(&Counter, 1u);
  Pointer[threadIdx.x] += threadIdx.x;
}
int main() {
  int Values[Threads];
  for (int I = 0; I < int(Threads); ++I)
    Values[I] = 1000 * I;
  CHECK(cudaMemcpyToSymbol(Set, Values, sizeof(Values)));
  unsigned *Out, Got[Threads], Count;
  CHECK(cudaMalloc(&Out, sizeof(Got)));
  use<<<1, Threads>>>(Out);
  CHECK(cudaMemcpy(Got, Out, sizeof(Got), cudaMemcpyDeviceToHost));
  for (unsigned I = 0; I < Threads; ++I)
    expect(Got[I], wanted(I, 3) + 1000 * I + 10 * (I % 4 + 1), "out");
  CHECK(cudaMemcpyFromSymbol(&Count, Counter, 4));
  expect(Count, Threads, "counter");
  CHECK(cudaMemcpyFromSymbol(Got, Slots, sizeof(Got)));
  for (unsigned I = 0; I < Threads; ++I)
    expect(Got[I], I + (I < 3 ? 7 + I : 0), "slot");
  void *Address;
  size_t Size;
  CHECK(cudaGetSymbolAddress(&Address, Slots));
  CHECK(cudaGetSymbolSize(&Size, Factors));
  expect(Size, 16, "size");
  cudaFuncAttributes Attributes;
  CHECK(cudaFuncGetAttributes(&Attributes, use));
  return finish();
}
