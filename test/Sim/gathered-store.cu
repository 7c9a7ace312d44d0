// Intent: a store that covers a load of its line is compared with what other lanes of the warp load in the same statement,
// also where the addresses of these loads are known later than that of the store.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t && %sim_clangxx -fsanitize=cuda-race -O2 -DFIXED %s -o %t.fixed
// DEFINE: %{run} = env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim --seeds 1-10
// RUN: not %{run} %t 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %{run} %t.fixed 2>&1 | FileCheck %s --check-prefix=FIXED
// RACY: CRSan: 10 runs, 10 of them with findings
// FIXED: SUMMARY: CRSan: no data races found

__global__ void work(unsigned *Values, const unsigned *Places) {
  const unsigned I = threadIdx.x;
  Values[I] = Values[I] + Values[Places[I]];
}

__global__ void fill(unsigned *Values, unsigned *Places) {
  Values[threadIdx.x] = 0;
#ifdef FIXED
  Places[threadIdx.x] = threadIdx.x;
#else
  Places[threadIdx.x] = threadIdx.x ^ 1;
#endif
}

int main() {
  unsigned *Values, *Places;
  cudaMalloc(&Values, 32 * sizeof(unsigned));
  cudaMalloc(&Places, 32 * sizeof(unsigned));
  fill<<<1, 32>>>(Values, Places);
  work<<<1, 32>>>(Values, Places);
  cudaDeviceSynchronize();
}
