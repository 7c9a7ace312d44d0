// Intent: what a kernel that still runs tells the host (a fence of system scope and a flag in
// memory that both see), what a host function tells, and what the host tells a running kernel
// orders for the oracle; without the fence, or without the host's waiting, it accuses.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t mapped 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: env CRSAN_OPTIONS=verbosity=1:seed=1 %crsan run --detector=oracle %t managed 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t function 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t copied 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t asks 2>&1 | FileCheck %s --check-prefix=CLEAN
// CLEAN: right
// CLEAN: SUMMARY: CRSan: no data races found

// RUN: %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --detector=oracle %t unfenced 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --detector=oracle %t narrow 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --detector=oracle %t hasty 2>&1 | FileCheck %s --check-prefix=RACY
// RACY: CRSan: data race: race between kernels, 4 bytes in global memory
// RACY-DAG: #0 get({{.*}}) at {{.*}}host-learns.cu:
// RACY-DAG: #0 {{(tell|put)}}({{.*}}) at {{.*}}host-learns.cu:
// RACY: SUMMARY: CRSan: 1 data race

#include <atomic>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

enum Fence { None, Device, System };
/// Goes on until the host lets it end.
__global__ void tell(int *Data, volatile int *Flags, Fence How) {
  Data[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  if (How == Device)
    __threadfence();
  if (How == System)
    __threadfence_system();
  Flags[0] = 1;
  while (!Flags[1]) {
  }
}
/// Waits until the host has seen the end of put().
__global__ void ask(int *Data, volatile int *Flags, int *Out) {
  if (threadIdx.x == 0) {
    while (!Flags[0]) {
    }
    __threadfence_system();
  }
  __syncthreads();
  Out[threadIdx.x] = Data[63 - threadIdx.x];
}
__global__ void put(int *Data) { Data[threadIdx.x] = threadIdx.x + 1; }
__global__ void get(const int *Data, int *Out) {
  Out[threadIdx.x] = Data[63 - threadIdx.x];
}

static std::atomic<int> Called;
static void call(void *) { Called.store(1, std::memory_order_release); }

int main(int, char **Argv) {
  const auto Is = [&](const char *Name) { return !strcmp(Argv[1], Name); };
  int *Data, *Out, *Flags, Host[64];
  cudaMalloc(&Data, 256);
  cudaMalloc(&Out, 256);
  if (Is("managed"))
    cudaMallocManaged(&Flags, 64);
  else
    cudaHostAlloc((void **)&Flags, 64, cudaHostAllocMapped);
  memset(Flags, 0, 64);
  volatile int *Seen = Flags;
  cudaStream_t A, B;
  cudaStreamCreateWithFlags(&A, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&B, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  if (Is("function") || Is("hasty")) {
    put<<<1, 64, 0, A>>>(Data);
    cudaLaunchHostFunc(A, call, nullptr);
    while (Is("function") && !Called.load(std::memory_order_acquire))
      cudaStreamQuery(A);
  } else if (Is("copied")) {
    put<<<1, 64, 0, A>>>(Data);
    cudaMemcpyAsync(Flags, Data, 4, cudaMemcpyDeviceToHost, A);
    while (!Seen[0])
      cudaStreamQuery(A);
  } else if (Is("asks")) {
    ask<<<1, 64, 0, A>>>(Data, Flags, Out);
    put<<<1, 64, 0, B>>>(Data);
    cudaStreamSynchronize(B);
    Seen[0] = 1;
  } else {
    tell<<<1, 64, 0, A>>>(Data, Flags,
                          Is("unfenced") ? None
                          : Is("narrow") ? Device
                                         : System);
    while (!Seen[0])
      cudaStreamQuery(A);
  }
  if (!Is("asks"))
    get<<<1, 64, 0, B>>>(Data, Out);
  cudaStreamSynchronize(B);
  Seen[1] = 1;
  cudaDeviceSynchronize();
  cudaMemcpy(Host, Out, 256, cudaMemcpyDeviceToHost);
  int Wrong = 0;
  for (int I = 0; I < 64; ++I)
    Wrong += Host[I] != 64 - I;
  puts(Wrong ? "wrong" : "right");
}
