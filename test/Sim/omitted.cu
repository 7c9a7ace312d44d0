// Intent: what a kernel accesses in ways that no detector checks only is no clean run: it is
// remarked at the user's line, in every mode, and the summary says that nothing was checked;
// together with accesses that are checked, that it does not speak of all.

// REQUIRES: plugin, host-runtime, sim
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -Rpass-missed=cuda-race %s -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %crsan_clangxx -fsanitize=cuda-race -O0 --offload-arch=sm_90 -Rpass-missed=cuda-race %s -c -o %t.o 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 -Rpass-missed=cuda-race %s -o %t.metadata 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=hybrid -O2 --offload-arch=sm_90 -Rpass-missed=cuda-race %s -o %t.hybrid 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: omitted.cu:[[#@LINE+17]]:{{[0-9]+}}: remark: access is not checked for races: it is in inline PTX that computes its address or condition, or synchronises before it

// RUN: %python %S/Inputs/status.py 67 %crsan run %t 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: %python %S/Inputs/status.py 67 %crsan run %t.metadata 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: %python %S/Inputs/status.py 67 %crsan run %t.hybrid 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: CRSan: 1 access of the source is not checked; run with crsan run --coverage to see which and why
// NOTHING: SUMMARY: CRSan: nothing was checked: no access of the instrumented code could be checked

// RUN: %crsan_clangxx -fsanitize=cuda-race -DMIXED -O2 --offload-arch=sm_90 %s -o %t.mixed
// RUN: %crsan run %t.mixed 2>&1 | FileCheck %s --check-prefix=MIXED
// MIXED: CRSan: 1 access of the source is not checked
// MIXED: SUMMARY: CRSan: no data races found in what was checked (1 access not checked)

__global__ void fill(float *Tile) {
#ifdef MIXED
  Tile[256 + threadIdx.x] = 1;
#endif
  asm volatile("{ .reg .u64 a; add.u64 a, %0, 4; st.global.u32 [a], 0; }" ::"l"(Tile) : "memory");
}

int main() {
  float *Tile;
  cudaMalloc(&Tile, 512 * sizeof(float));
  fill<<<1, 64>>>(Tile);
  return cudaDeviceSynchronize();
}
