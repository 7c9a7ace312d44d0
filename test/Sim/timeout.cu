// Intent: with timeout=S a program that waits for a kernel longer than that is ended, with what was
// found so far; one whose kernels end in time, and one that waits for something else, are not.
//
// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 %s -o program
// RUN: env CRSAN_OPTIONS=timeout=2:log_path=saved-%%p.json %python %S/Inputs/status.py 66 %crsan run --device=sim ./program racy 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %crsan report saved-*.json | FileCheck %s --check-prefix=SAVED
// RACY: CRSan: a kernel has not ended after 2 s (timeout); last launched: race(int*), spin(int volatile*); the program is ended
// RACY: CRSan: data race: race between blocks
// RACY: SUMMARY: CRSan: 1 data race ({{.*}}), 1 kernel fault
// SAVED: SUMMARY: CRSan: 1 data race
// RUN: env CRSAN_OPTIONS=timeout=2 %python %S/Inputs/status.py 68 %crsan run --device=sim ./program 2>&1 | FileCheck %s --check-prefix=HUNG
// HUNG: CRSan: a kernel has not ended after 2 s (timeout); last launched: spin(int volatile*); the program is ended
// HUNG: CRSan: kernel fault: time limit
// HUNG: kernel: spin(int volatile*)
// HUNG: SUMMARY: CRSan: 1 kernel fault
// RUN: env CRSAN_OPTIONS=timeout=1 %python %S/Inputs/status.py 0 %crsan run --device=sim ./program ends 2>&1 | FileCheck %s --check-prefix=ENDS --implicit-check-not=timeout
// ENDS: it is done
// ENDS: SUMMARY: CRSan: no data races found
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

__global__ void race(int *P) { P[threadIdx.x / 2] = int(threadIdx.x); }
__global__ void spin(volatile int *P) {
  while (P[0] != 12345)
    ;
}
__global__ void apart(int *P) { P[threadIdx.x] += 1; }

int main(int Count, char **Words) {
  const char *Word = Count > 1 ? Words[1] : "";
  int *P;
  cudaMalloc(&P, 4096);
  cudaMemset(P, 0, 4096);
  if (!std::strcmp(Word, "ends")) {
    apart<<<1, 256>>>(P);
    cudaDeviceSynchronize();
    // The host's own time is none of the kernels'.
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    cudaDeviceSynchronize();
    std::puts("it is done");
    return 0;
  }
  if (!std::strcmp(Word, "racy"))
    race<<<4, 256>>>(P);
  cudaDeviceSynchronize();
  spin<<<1, 32>>>(P + 512);
  cudaDeviceSynchronize();
  std::puts("not reached");
}
