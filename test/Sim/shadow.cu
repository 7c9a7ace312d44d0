// Intent: metadata mode checks every word of the program's memory, whatever it was allocated
// with; with less room for shadow it says what it tracks, and never stays silent about the rest.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run %t 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: %crsan run %t 2>&1 | FileCheck %s --check-prefix=EXACT --implicit-check-not=CRSan
// EXACT: CRSan: metadata mode checked 2816 accesses of functions with 11 sites in 2 kernel launches; not checked: 0; memory tracked: 24 MiB exactly, 0 MiB by a cache, 0 MiB not at all
// EXACT: SUMMARY: CRSan: no data races found

// RUN: env CRSAN_OPTIONS=verbosity=1:shadow=cached %crsan run %t 2>&1 | FileCheck %s --check-prefix=CACHED
// CACHED-NOT: no room
// CACHED: CRSan: metadata mode checked 2816 accesses of functions with 11 sites in 2 kernel launches; not checked: 0; memory tracked: 0 MiB exactly, 24 MiB by a cache, 0 MiB not at all
// CACHED: SUMMARY: CRSan: no data races found

// RUN: env CRSAN_OPTIONS=shadow_limit=24 %crsan run %t 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: no room on device 0 for exact shadow of all memory of the program: at most {{[1-9]}} MiB were tracked exactly, {{[1-9][0-9]}} MiB by a cache, which may miss races, and 0 MiB not at all

// RUN: env CRSAN_OPTIONS=shadow_limit=1 %python %S/Inputs/status.py 67 %crsan run %t 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: CRSan: metadata mode checked 0 accesses of functions with {{[0-9]+}} sites in 2 kernel launches; not checked: 2816 (there was no room for more shadow, raise shadow_limit, which is 1 MiB); memory tracked: 0 MiB exactly,
// NONE: SUMMARY: CRSan: nothing was checked

// RUN: env CRSAN_OPTIONS=verbosity=1:detector=both %crsan run %t 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: metadata mode checked 2816 accesses of functions with 11 sites in 2 kernel launches; not checked: 0;
// BOTH: SUMMARY: CRSan: no data races found

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__device__ int Variable[256];
static __device__ int Hidden[256];

__global__ void touch(int *Device, int *Pitched, int *Async, int *Host, int *Registered,
                      int *Unified) {
  int I = threadIdx.x;
  Device[I] = I;
  Device[(4 << 20) - 1 - I] = I;
  Pitched[I] = I;
  Async[I] = I;
  Host[I] = I;
  Registered[I] = I;
  Unified[I] = I;
  Variable[I] = I;
  Hidden[I] = I;
}

__global__ void copy() { Variable[threadIdx.x] = Hidden[threadIdx.x]; }

int main() {
  int *Device, *Pitched, *Async, *Host, *Unified;
  size_t Pitch;
  int *Registered = static_cast<int *>(aligned_alloc(4096, 4096));
  cudaMalloc(&Device, 16 << 20);
  cudaMallocPitch(&Pitched, &Pitch, 100, 100);
  cudaMallocAsync(&Async, 1024, nullptr);
  cudaMallocHost(&Host, 1024);
  cudaHostRegister(Registered, 4096, cudaHostRegisterDefault);
  cudaMallocManaged(&Unified, 1024);
  touch<<<1, 256>>>(Device, Pitched, Async, Host, Registered, Unified);
  copy<<<1, 256>>>();
  cudaFreeAsync(Async, nullptr);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
