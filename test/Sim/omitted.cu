// Intent: what a kernel accesses by matrix functions only is no clean run: it is remarked at
// the user's line, in every mode, and the summary says that nothing was checked; together with
// accesses that are checked, that it does not speak of all.

// REQUIRES: plugin, host-runtime, sim
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -Rpass-missed=cuda-race %s -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %crsan_clangxx -fsanitize=cuda-race -O0 --offload-arch=sm_90 -Rpass-missed=cuda-race %s -c -o %t.o 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 -Rpass-missed=cuda-race %s -o %t.metadata 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=hybrid -O2 --offload-arch=sm_90 -Rpass-missed=cuda-race %s -o %t.hybrid 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: omitted.cu:[[#@LINE+25]]:{{[0-9]+}}: remark: access is not checked for races: matrix loads and stores of a warp are not supported
// REMARK-NOT: .hpp:{{.*}}remark
// REMARK-NOT: .h:{{.*}}remark

// RUN: %python %S/Inputs/status.py 67 %crsan run %t 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: %python %S/Inputs/status.py 67 %crsan run %t.metadata 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: %python %S/Inputs/status.py 67 %crsan run %t.hybrid 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: CRSan: 1 access of the source is not checked; build with -Rpass-missed=cuda-race to see which and why
// NOTHING: SUMMARY: CRSan: nothing was checked: no access of the instrumented code could be checked

// RUN: %crsan_clangxx -fsanitize=cuda-race -DMIXED -O2 --offload-arch=sm_90 %s -o %t.mixed
// RUN: %crsan run %t.mixed 2>&1 | FileCheck %s --check-prefix=MIXED
// MIXED: CRSan: 1 access of the source is not checked
// MIXED: SUMMARY: CRSan: no data races found in what was checked (1 access not checked)

#include <mma.h>
using namespace nvcuda;

/// Two warps store to one tile.
__global__ void fill(float *Tile) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> F;
  wmma::fill_fragment(F, 1.0f);
#ifdef MIXED
  Tile[256 + threadIdx.x] = 1;
#endif
  wmma::store_matrix_sync(Tile, F, 16, wmma::mem_row_major);
}

int main() {
  float *Tile;
  cudaMalloc(&Tile, 512 * sizeof(float));
  fill<<<1, 64>>>(Tile);
  return cudaDeviceSynchronize();
}
