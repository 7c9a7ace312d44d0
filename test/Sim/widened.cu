// Intent: the oracle judges accesses as the source has them: not the gap that LLVM's vectoriser
// loads, nor the word that it (or libcu++) makes atomics on one or two bytes of. Whoever
// accesses those bytes themselves races.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -std=c++17 -O2 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: %sim_clangxx -fsanitize=cuda-race -std=c++17 -O0 -DPLAIN_ONLY --offload-arch=sm_90 %s -o %t.unoptimised
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t.unoptimised 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: %clangxx -Wno-unknown-cuda-version -std=c++17 -O2 -gline-tables-only --cuda-path=%cuda_path --offload-arch=sm_90 --cuda-include-ptx=all -DPLAIN_ONLY %s -L%cuda_path/lib64 -lcudart -o %t.clang
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t.clang 2>&1 | FileCheck %s --check-prefix=CLEAN
// CLEAN: right
// CLEAN: SUMMARY: CRSan: no data races found

// RUN: %sim_clangxx -fsanitize=cuda-race -std=c++17 -O2 -DRACY --offload-arch=sm_90 %s -o %t.racy
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --detector=oracle %t.racy 2>&1 | FileCheck %s --check-prefix=RACY
// RACY-DAG: {{read|write}} of 4 bytes at
// RACY-DAG: access that is not strong, 2 bytes
// RACY-DAG: access that is not strong, 1 byte
// RACY: SUMMARY: CRSan: {{[4-9]}} data races

#include <cstdio>
#include <cuda_runtime.h>
#ifndef PLAIN_ONLY
#include <cuda/atomic>
#endif

struct alignas(16) Quad {
  int A, B, C, D;
};
struct alignas(4) Bytes {
  char A, B, C, D;
};

/// Odd threads write what lies between the members that even ones read.
__global__ void gap(Quad *P, Bytes *Q, int *Out) {
  const int E = threadIdx.x / 2;
  if (threadIdx.x & 1) {
    P[E].C = E;
    Q[E].C = E;
#ifdef RACY
    P[E].D = E;
#endif
  } else {
    Out[E] = P[E].A + P[E].B + P[E].D;
    Out[E] += Q[E].A + Q[E].B + Q[E].D;
  }
}

/// Atomics on the one half of each word, plain accesses to the other.
__global__ void halves(unsigned short *P) {
  unsigned short Expected = 0, Seen;
  while ((Seen = atomicCAS(P, Expected, (unsigned short)(Expected + 1))) !=
         Expected)
    Expected = Seen;
  __atomic_fetch_add(P + 2, (unsigned short)1, __ATOMIC_RELAXED);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    P[1] = 7;
    P[3] = P[1];
  }
#ifdef RACY
  if (blockIdx.x == 1 && threadIdx.x == 0)
    P[2] = 0;
#endif
}

__global__ void bytes(unsigned char *P) {
  __atomic_fetch_or(P + 1, (unsigned char)(1 << threadIdx.x % 8),
                    __ATOMIC_RELAXED);
  __atomic_fetch_and(P + 2, (unsigned char)0xFE, __ATOMIC_RELAXED);
  __atomic_exchange_n(P + 5, (unsigned char)1, __ATOMIC_RELAXED);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    P[0] = P[3] = P[4] = P[6] = 1;
#ifdef RACY
  if (blockIdx.x == 1 && threadIdx.x == 0)
    P[1] = 0;
#endif
}

/// What is released by an atomic on a byte is acquired by a load of it.
__global__ void pass(int *Data, unsigned char *Flag) {
  if (threadIdx.x)
    return;
  if (blockIdx.x == 0) {
    *Data = 1;
    __atomic_exchange_n(Flag + 1, (unsigned char)1, __ATOMIC_RELEASE);
  } else {
    while (!__atomic_load_n(Flag + 1, __ATOMIC_ACQUIRE)) {
    }
    *Data += 1;
  }
}

__global__ void library(unsigned short *P, unsigned char *Q) {
#ifndef PLAIN_ONLY
  using namespace cuda;
  atomic_ref<unsigned short, thread_scope_device>(P[0]).fetch_add(
      1, memory_order_relaxed);
  atomic_ref<unsigned char, thread_scope_device>(Q[1]).fetch_or(
      4, memory_order_relaxed);
  if (atomic_ref<unsigned char, thread_scope_device>(Q[1]).load() == 255)
    P[5] = 1; // Never.
  if (blockIdx.x == 0 && threadIdx.x == 0)
    P[1] = Q[0] = Q[2] = 1;
#ifdef RACY
  if (blockIdx.x == 1 && threadIdx.x == 0)
    Q[1] = 1;
#endif
#endif
}

int main() {
  char *M;
  cudaMalloc(&M, 4096);
  cudaMemset(M, 0, 4096);
  gap<<<1, 64>>>((Quad *)M, (Bytes *)(M + 1024), (int *)(M + 2048));
  auto *P = (unsigned short *)(M + 3072);
  halves<<<2, 64>>>(P);
  bytes<<<2, 64>>>((unsigned char *)M + 3200);
  pass<<<2, 32>>>((int *)(M + 3300), (unsigned char *)M + 3400);
  library<<<2, 64>>>((unsigned short *)(M + 3500), (unsigned char *)M + 3600);
  cudaDeviceSynchronize();
  unsigned short Host[4];
  cudaMemcpy(Host, P, sizeof(Host), cudaMemcpyDeviceToHost);
  int Data;
  cudaMemcpy(&Data, M + 3300, 4, cudaMemcpyDeviceToHost);
  puts(Host[0] == 128 && Host[1] == 7 && Host[3] == 7 && Data == 2 ? "right"
                                                                   : "wrong");
}
