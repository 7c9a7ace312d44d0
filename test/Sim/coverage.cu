// Intent: with coverage=1 a report has how often each access of the source was checked, and which
// were not and why: in the text those that were not, in JSON and HTML all; runs are added up.
//
// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s coverage.cu
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 coverage.cu -o collider
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 coverage.cu -o metadata
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=hybrid -O2 --offload-arch=sm_90 coverage.cu -o hybrid

// The own copy of an inlined function, which nobody calls, is not said to be unexecuted.
// RUN: %python %S/Inputs/status.py 0 %crsan run --coverage ./collider 2>&1 | FileCheck %s --check-prefix=COLLIDER --match-full-lines
// COLLIDER: CRSan: coverage: 4 accesses of the source checked, 2 not executed in a checked launch, 2 not checked
// COLLIDER-NEXT: {{ +}}coverage.cu:[[#@LINE+23]]:{{[0-9]+}} in work(int*, int*, int) is not checked: CRSAN_NO_SANITIZE or an ignore list asks for it
// COLLIDER-NEXT: {{ +}}coverage.cu:[[#@LINE+27]]:{{[0-9]+}} in work(int*, int*, int) was not executed
// COLLIDER-NEXT: {{ +}}coverage.cu:[[#@LINE+31]]:{{[0-9]+}} in work(int*, int*, int) is not checked: it is in inline PTX that computes its address or condition, or synchronises before it
// COLLIDER-NEXT: {{ +}}coverage.cu:[[#@LINE+36]]:{{[0-9]+}} in unused(int*) was not executed
// COLLIDER-NEXT: SUMMARY: CRSan: no data races found in what was checked (1 access not checked, 1 access exempt)

// Metadata mode checks each execution, of functions that are executed.
// RUN: %python %S/Inputs/status.py 0 env CRSAN_OPTIONS=coverage=1 %crsan run ./metadata 2>&1 | FileCheck %s --check-prefix=METADATA --match-full-lines
// RUN: %python %S/Inputs/status.py 0 env CRSAN_OPTIONS=coverage=1 %crsan run ./metadata unused 2>&1 | FileCheck %s --check-prefix=USED --implicit-check-not="was not executed"
// METADATA: CRSan: coverage: {{[0-9]+}} accesses of the source checked, 1 not executed in a checked launch, 2 not checked
// METADATA: {{ +}}coverage.cu:[[#@LINE+29]]:{{[0-9]+}} in unused(int*) was not executed
// USED: CRSan: coverage: {{[0-9]+}} accesses of the source checked, 0 not executed in a checked launch, 2 not checked

// RUN: %crsan run --runs 3 --coverage --format json -o runs.json ./collider > out.txt 2>&1
// RUN: %crsan run --seed 0 --format html -o run.html ./hybrid > out.txt 2>&1
// RUN: %python %S/Inputs/coverage.py runs.json run.html
// Without the option nothing is read back, nor said.
// RUN: %crsan run --format json -o without.json ./collider > out.txt 2>&1 && FileCheck %s --check-prefix=WITHOUT --input-file without.json --implicit-check-not=coverage
// WITHOUT: "summary"

#include <crsan/crsan.h>

__device__ int first(const int *P) { return *P; }
CRSAN_NO_SANITIZE __device__ void hint(int *P) { *P = 1; }

__global__ void work(int *A, int *B, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (N > 100000)
    A[I] = 7;
  else
    B[I] = A[I] + first(A + 1000);
  if (I == 3) {
    int Value;
    asm volatile("{ .reg .u64 a; add.u64 a, %1, 4; ld.global.u32 %0, [a]; }" : "=r"(Value) : "l"(A) : "memory");
    B[I] += Value;
    hint(B + 1001);
  }
}

__global__ void unused(int *A) { A[threadIdx.x] = 1; }

int main(int Argc, char **) {
  int *A, *B;
  (void)(cudaMalloc(&A, 4096));
  (void)(cudaMalloc(&B, 4096));
  (void)(cudaMemset(A, 0, 4096));
  work<<<4, 64>>>(A, B, 1);
  if (Argc > 1)
    unused<<<1, 1>>>(A);
  (void)(cudaDeviceSynchronize());
}
