// Intent: metadata mode names every line that races, though a cell has one reader and one writer.
// Blocks are of one warp, whose lanes do each statement together here.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 %s -o %t
// RUN: not %crsan run --device=sim %t 2> %t.racy
// RUN: FileCheck %s --check-prefix=COMPANION < %t.racy
// RUN: FileCheck %s --check-prefix=OWN < %t.racy
// RUN: FileCheck %s --check-prefix=HALVES < %t.racy
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 -DFIXED %s -o %t.fixed
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t.fixed 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: SUMMARY: CRSan: no data races found

#include <cuda_runtime.h>

#ifdef FIXED
#define MEET() __syncthreads()
#define MINE (blockIdx.x * 32 + threadIdx.x)
#else
#define MEET()
#define MINE threadIdx.x
#endif

// The read needs no check of its own after the write.
// COMPANION:      write of 4 bytes at {{.*}}lines.cu:[[@LINE+4]]:{{.*}}
// COMPANION-NEXT: #0 companion
// COMPANION:      also read at {{.*}}lines.cu:[[@LINE+4]]:
__global__ void companion(int *A, int *B, int *Out) {
  A[MINE] = blockIdx.x;
  B[blockIdx.x * 32 + threadIdx.x] = 1;
  Out[blockIdx.x * 32 + threadIdx.x] = A[MINE];
}

// A thread's own read does not hide that of its neighbour from its write.
// OWN-DAG: #0 own{{.*}}lines.cu:[[@LINE+6]]:
// OWN-DAG: #0 own{{.*}}lines.cu:[[@LINE+8]]:
__global__ void own(int2 *Out) {
  __shared__ int2 S[32];
  S[threadIdx.x] = make_int2(threadIdx.x, 0);
  __syncthreads();
  int Left = S[(threadIdx.x + 31) % 32].x;
  MEET();
  int2 Own = S[threadIdx.x];
  S[threadIdx.x].x = Own.y + Left;
  S[threadIdx.x].y = Own.x + Left;
  __syncthreads();
  Out[blockIdx.x * 32 + threadIdx.x] = S[threadIdx.x];
}

// A lane that writes the one half of a word does not hide who wrote the other.
// HALVES-DAG: #0 halves{{.*}}lines.cu:[[@LINE+4]]:
// HALVES-DAG: #0 halves{{.*}}lines.cu:[[@LINE+6]]:
__global__ void halves(int *Out) {
  __shared__ short S[64];
  S[2 * threadIdx.x] = 1;
  S[2 * (threadIdx.x ^ 1) + 1] = 2;
  MEET();
  Out[blockIdx.x * 32 + threadIdx.x] = S[2 * ((threadIdx.x + 16) % 32)];
}

int main() {
  int *A, *B, *Out;
  int2 *Wide;
  cudaMalloc(&A, 64 * sizeof(int));
  cudaMalloc(&B, 64 * sizeof(int));
  cudaMalloc(&Out, 64 * sizeof(int));
  cudaMalloc(&Wide, 64 * sizeof(int2));
  companion<<<2, 32>>>(A, B, Out);
  own<<<2, 32>>>(Wide);
  halves<<<2, 32>>>(Out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
