// Intent: launch_one_in has the native twins of kernels launched, which check nothing and compute the same. It says how many launches
// were left out, a race is found in those that were not, and a run in which all were left out has checked nothing. Kernels without a
// twin are checked in each launch, the first launches of each kernel as launch_first asks, and launches that --launches names.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// RUN: env CRSAN_OPTIONS=seed=1:launch_one_in=8:verbosity=1 %crsan run --device=sim --show-output %t 2> %t.log | FileCheck %s --check-prefix=RESULT
// RUN: FileCheck %s --check-prefix=CLEAN < %t.log
// RUN: env CRSAN_OPTIONS=seed=1:launch_one_in=1:verbosity=1 %crsan run --device=sim %t 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: env CRSAN_OPTIONS=seed=1:launch_one_in=8:launch_first=0 not %crsan run --device=sim %t racy 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: env CRSAN_OPTIONS=seed=1:launch_one_in=4096:launch_first=0 not %crsan run --device=sim %t 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: env CRSAN_OPTIONS=seed=1:launch_one_in=4096:launch_first=2:verbosity=1 %crsan run --device=sim %t 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: env CRSAN_OPTIONS=seed=1:launch_one_in=4096:launch_first=0:verbosity=1 %crsan run --device=sim --launches=15-16 %t 2>&1 | FileCheck %s --check-prefix=NAMED
// RUN: env CRSAN_OPTIONS=seed=1:launch_one_in=4096:launch_first=0:verbosity=1 %crsan run --device=sim %t pointed 2>&1 | FileCheck %s --check-prefix=POINTED
//
// RESULT: sum 420, blocks right
// CLEAN: CRSan: checked {{[0-9]+}} kernel launches
// CLEAN: CRSan: the collider left out to save time: {{[0-9]+}} of 40 kernel launches; CRSAN_OPTIONS=launch_one_in=1 has all launches checked
// CLEAN: no data races found in what was checked ({{[0-9]+}} kernel launches without checks)
// ALL-NOT: left out
// ALL: CRSan: checked 40 kernel launches
// RACY: CRSan: data race
// RACY: launch-one-in.cu:4{{[03]}}
// NOTHING: nothing was checked: the collider left out to save time: 40 of 40 kernel launches; set CRSAN_OPTIONS=launch_one_in=1 to have all launches checked
// FIRST: CRSan: checked {{[4-9]|1[0-6]}} kernel launches
// FIRST: CRSan: the collider left out to save time: {{2[4-9]|3[0-6]}} of 40 kernel launches
// NAMED: CRSan: checked 2 kernel launches
// POINTED: CRSan: checked 40 kernel launches
#include <cstdio>
#include <cstring>

__device__ int Sum, Wrong;

__device__ __noinline__ int twice(int Value) { return 2 * Value; }
__device__ __noinline__ int thrice(int Value) { return 3 * Value; }
__device__ int (*Pointers[2])(int) = {twice, thrice};

// Each block writes the cell of its index, whatever order blocks are in.
__global__ void work(int *Cells, int Launch, bool IsRacy) {
  __shared__ int Tile[64];
  Tile[threadIdx.x] = Launch;
  if (!IsRacy)
    __syncthreads();
  const int Value = Tile[threadIdx.x ^ 32]; // With IsRacy, races.
  if (threadIdx.x == 0)
    Cells[blockIdx.x] = twice(Value) / 2;
}

__global__ void pointed(int *Cells) {
  Cells[threadIdx.x] = Pointers[threadIdx.x % 2](1);
}

__global__ void check(const int *Cells, int Launch) {
  for (int B = 0; B < 8; ++B)
    Wrong += Cells[B] != Launch;
  Sum += 2 * Launch;
}

int main(int Argc, char **Argv) {
  const bool IsRacy = Argc > 1 && !strcmp(Argv[1], "racy");
  int *Cells;
  cudaMalloc(&Cells, 256);
  if (Argc > 1 && !strcmp(Argv[1], "pointed"))
    for (int Launch = 0; Launch < 40; ++Launch)
      pointed<<<1, 64>>>(Cells);
  else
    for (int Launch = 1; Launch <= 20; ++Launch) {
      work<<<8, 64>>>(Cells, Launch, IsRacy);
      check<<<1, 1>>>(Cells, Launch);
    }
  int Got = 0, Bad = 0;
  cudaMemcpyFromSymbol(&Got, Sum, sizeof(Got));
  cudaMemcpyFromSymbol(&Bad, Wrong, sizeof(Bad));
  printf("sum %d, blocks %s\n", Got, Bad ? "wrong" : "right");
}
