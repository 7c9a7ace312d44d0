// Intent: a finding says where the host launched the kernel and allocated the memory, by the first
// line of the call that is the user's; also in a shared library, and in the files of a run. Without a
// symbolizer, or without line tables, the report is as good as it was without.
//
// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o collider
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -g --offload-arch=sm_90 %s -o metadata
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -fPIC -shared -DLIBRARY %s -o libracy.so
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -DPROGRAM %s -o program -L. -lracy -Wl,-rpath,%t
// RUN: %python %S/Inputs/status.py 66 %crsan run ./collider 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/status.py 66 %crsan run ./metadata 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/status.py 66 %crsan run --detector=oracle ./collider 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/status.py 66 %crsan run ./program 2>&1 | FileCheck %s
// CHECK: launched at: {{.*}}places.cu:[[#@LINE+29]] in {{.*}}run
// CHECK: allocated at: {{.*}}places.cu:[[#@LINE+23]] in {{.*}}make

// RUN: %python %S/Inputs/status.py 66 %crsan run --format=json -o run.json ./metadata
// RUN: FileCheck %s --check-prefix=JSON < run.json
// JSON: "allocated_at": "{{.*}}places.cu:[[#@LINE+19]] in {{.*}}make
// JSON: "launched_at": "{{.*}}places.cu:[[#@LINE+23]] in {{.*}}run
// RUN: %crsan report run.json | FileCheck %s

// RUN: env CRSAN_SYMBOLIZER_PATH=/nonexistent %python %S/Inputs/status.py 66 %crsan run ./collider 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=" at: "
// RUN: strip -g collider -o stripped
// RUN: %python %S/Inputs/status.py 66 %crsan run ./stripped 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=" at: "
// NONE: memory: byte {{[0-9]+}} of 4096 bytes from cudaMalloc (allocation 1)
// NONE: SUMMARY: CRSan: 1 data race
int race();
#ifdef PROGRAM
int main() { return race(); }
#else
__global__ void put(int *P) {
  P[threadIdx.x / 2] = int(threadIdx.x);
}

static __attribute__((noinline)) int *make(size_t Bytes) {
  int *P;
  cudaMalloc(&P, Bytes);
  return P;
}

static __attribute__((noinline)) void run(int *P) {
  put<<<4, 256>>>(P);
}

int race() {
  run(make(4096));
  return cudaDeviceSynchronize() != cudaSuccess;
}
#ifndef LIBRARY
int main() { return race(); }
#endif
#endif
