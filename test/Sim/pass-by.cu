// Intent: while one warp of a block waits in a check, the others join it or look for its watchpoints, and so meet it. The two warps store the value that is there
// already, so that only a meeting shows their race; each window is checked once before the time is limited.
// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// RUN: env CRSAN_OPTIONS=budget=1:overhead=100 %python %S/Inputs/status.py 66 %crsan run --device=sim --seeds 1-24 %t racy 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: env CRSAN_OPTIONS=budget=1:overhead=100 %crsan run --device=sim --seeds 1-24 %t 2>&1 | FileCheck %s --check-prefix=CLEAN
//
// RACY: data race: conflicting accesses
// RACY: pass-by.cu:[[@LINE+14]]
// RACY: CRSan: 24 runs, {{[1-9]|1[0-9]|2[0-4]}} of them with findings
// CLEAN: CRSan: 24 runs, 0 of them with findings
#include <cstdio>

constexpr unsigned Threads = 64, Rounds = 300;

__global__ void mark(unsigned *Out, unsigned Places) {
  __shared__ unsigned Tile[Threads];
  Tile[threadIdx.x] = 1;
  __syncthreads();
#pragma unroll 1
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    Out[threadIdx.x] += Round;
    Tile[threadIdx.x % Places] = 1;
  }
  __syncthreads();
  Out[threadIdx.x] = Tile[threadIdx.x % Places];
}

int main(int Argc, char **) {
  unsigned *Out, Got;
  cudaMalloc(&Out, Threads * sizeof(unsigned));
  cudaMemset(Out, 0, Threads * sizeof(unsigned));
  mark<<<1, Threads>>>(Out, Argc > 1 ? Threads / 2 : Threads);
  cudaMemcpy(&Got, Out, sizeof(Got), cudaMemcpyDeviceToHost);
  std::puts(Got == 1 ? "right" : "wrong");
  return Got != 1;
}
