// Intent: a kernel launched with programmatic stream serialisation may overlap with the one
// before it; nothing but griddepcontrol.wait orders the two, launched or captured into a graph.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 -DFIXED --offload-arch=sm_90 %s -o %t.fixed
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --detector=oracle %t 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: env CRSAN_OPTIONS=schedule=roundrobin %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --detector=oracle %t 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --detector=oracle %t graph 2>&1 | FileCheck %s --check-prefix=RACY
// RACY: CRSan: data race: race between kernels, 4 bytes in global memory
// RACY-DAG: #0 second(int const*, int*) at {{.*}}dependent-launch.cu:[[#SECOND:]]:
// RACY-DAG: #0 first(int*) at {{.*}}dependent-launch.cu:
// RACY: no griddepcontrol.wait
// RACY: SUMMARY: CRSan: 1 data race

// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t.fixed 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: env CRSAN_OPTIONS=verbosity=1:seed=3:schedule=pct %crsan run --detector=oracle %t.fixed 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t.fixed graph 2>&1 | FileCheck %s --check-prefix=CLEAN
// CLEAN: right
// CLEAN: SUMMARY: CRSan: no data races found

#include <cstdio>
#include <cuda_runtime.h>

__global__ void first(int *Data) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  Data[blockIdx.x * 64 + threadIdx.x] = blockIdx.x * 64 + threadIdx.x;
}
__global__ void second(const int *Data, int *Out) {
  const int I = blockIdx.x * 64 + threadIdx.x;
#ifdef FIXED
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  Out[I] = Data[511 - I];
}
/// An ordinary launch: after both.
__global__ void third(const int *Data, int *Out) {
  Out[blockIdx.x * 64 + threadIdx.x] += Data[blockIdx.x * 64 + threadIdx.x];
}

static void launchAll(int *Data, int *Out, cudaStream_t S) {
  first<<<8, 64, 0, S>>>(Data);
  cudaLaunchConfig_t C = {};
  C.gridDim = 8;
  C.blockDim = 64;
  C.stream = S;
  cudaLaunchAttribute A[1];
  A[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  A[0].val.programmaticStreamSerializationAllowed = 1;
  C.attrs = A;
  C.numAttrs = 1;
  cudaLaunchKernelEx(&C, second, (const int *)Data, Out);
  third<<<8, 64, 0, S>>>(Data, Out);
}

int main(int Argc, char **) {
  int *Data, *Out, Host[512];
  cudaMalloc(&Data, 2048);
  cudaMalloc(&Out, 2048);
  cudaStream_t S;
  cudaStreamCreate(&S);
  for (int Round = 0; Round < 3; ++Round) {
    if (Argc == 1) {
      launchAll(Data, Out, S);
      continue;
    }
    cudaGraph_t G;
    cudaGraphExec_t E;
    cudaStreamBeginCapture(S, cudaStreamCaptureModeGlobal);
    launchAll(Data, Out, S);
    cudaStreamEndCapture(S, &G);
    cudaGraphInstantiate(&E, G, 0);
    cudaGraphLaunch(E, S);
  }
  cudaDeviceSynchronize();
  cudaMemcpy(Host, Out, 2048, cudaMemcpyDeviceToHost);
  int Wrong = 0;
  for (int I = 0; I < 512; ++I)
    Wrong += Host[I] != 511;
  puts(Wrong ? "wrong" : "right");
}
