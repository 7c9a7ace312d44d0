// Intent: memory that the program maps itself, with the driver's calls, at one
// address twice.
// GPU-ONLY
#include <cuda.h>

#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;

__global__ void shift(unsigned *Memory, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Memory[I] = I + 1; // RACE
#ifdef RACY
  Out[I] = Memory[(I + Threads) % N]; // RACE
#else
  Out[I] = Memory[I];
#endif
}

/// A function of the driver, which programs need not link.
template <typename F> F *driver(F *, const char *Name) {
  void *Function;
  cudaDriverEntryPointQueryResult Found;
  CHECK(cudaGetDriverEntryPointByVersion(Name, &Function, 12000,
                                         cudaEnableDefault, &Found));
  return reinterpret_cast<F *>(Function);
}
#define DRIVER(Name, ...)                                                      \
  if (driver(&Name, #Name)(__VA_ARGS__) != CUDA_SUCCESS) {                     \
    std::puts(#Name " failed");                                                \
    return 1;                                                                  \
  }

int main() {
  CHECK(cudaFree(nullptr));
  CUmemAllocationProp What = {};
  What.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  What.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  CUmemAccessDesc Access = {};
  Access.location = What.location;
  Access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  constexpr size_t Size = 4 << 20;
  CUdeviceptr Base;
  unsigned *Out = zeroed<unsigned>(N);
  bool Right = true;
  DRIVER(cuMemAddressReserve, &Base, Size, 0, 0, 0);
  for (unsigned Times = 0; Times < 2; ++Times) {
    CUmemGenericAllocationHandle Pages;
    DRIVER(cuMemCreate, &Pages, Size, &What, 0);
    DRIVER(cuMemMap, Base, Size, 0, Pages, 0);
    DRIVER(cuMemSetAccess, Base, Size, &Access, 1);
    shift<<<Blocks, Threads>>>(reinterpret_cast<unsigned *>(Base), Out);
    Right &= matches(Out, N, [](size_t I) { return I + 1; });
    DRIVER(cuMemUnmap, Base, Size);
    DRIVER(cuMemRelease, Pages);
  }
  DRIVER(cuMemAddressFree, Base, Size);
  return finish(Right);
}
