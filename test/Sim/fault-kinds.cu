// Intent: a bad address is reported as what the program did with it, also where instrumentation
// has looked at the memory before, in each mode and without any.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 %s -o %t.metadata
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t store 2>&1 | FileCheck %s --check-prefix=STORE
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t.metadata store 2>&1 | FileCheck %s --check-prefix=STORE
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run --detector=oracle %t store 2>&1 | FileCheck %s --check-prefix=STORE
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t vector 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t shared 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t load 2>&1 | FileCheck %s --check-prefix=LOAD
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t atomic 2>&1 | FileCheck %s --check-prefix=ATOMIC

#include <cstring>
#include <cuda_runtime.h>

__global__ void store(int *P) { P[threadIdx.x] = 1; }
// STORE: CRSan: kernel fault: invalid address
// STORE-NEXT: #0 store(int*) at {{.*}}fault-kinds.cu:[[#@LINE-2]]:
// STORE: {{^}}  Write to 4 bytes
__global__ void vector(int4 *P) { P[threadIdx.x] = make_int4(1, 2, 3, 4); }
// VECTOR: {{^}}  Write to 16 bytes
__global__ void shared(int Over) {
  __shared__ int Own[32];
  Own[threadIdx.x + Over] = threadIdx.x;
  __syncthreads();
  if (Own[31 - threadIdx.x] == 77)
    __trap();
}
// SHARED: {{^}}  Write to 4 bytes {{.*}} beyond the block's 128 bytes of shared memory
__global__ void load(const int *P, int *Out) { Out[threadIdx.x] = P[threadIdx.x]; }
// LOAD: {{^}}  Read of 4 bytes
__global__ void atomic(int *P) { atomicAdd(P + threadIdx.x, 1); }
// ATOMIC: {{^}}  Atomic access to 4 bytes

int main(int, char **Argv) {
  const auto Is = [&](const char *Name) { return !strcmp(Argv[1], Name); };
  int *P;
  cudaMalloc(&P, 4096);
  int *Beyond = P + (1 << 20);
  if (Is("store"))
    store<<<1, 32>>>(Beyond);
  if (Is("vector"))
    vector<<<1, 32>>>((int4 *)Beyond);
  if (Is("shared"))
    shared<<<1, 32>>>(1000);
  if (Is("load"))
    load<<<1, 32>>>(Beyond, P);
  if (Is("atomic"))
    atomic<<<1, 32>>>(Beyond);
  cudaDeviceSynchronize();
}
