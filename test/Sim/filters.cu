// Intent: the options kernels and launches (crsan run --kernel, --launches) leave out what they do
// not name, in each detector, and the summary says how many launches that were.
//
// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o collider
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 %s -o metadata

// By name: as in the source, without and with namespaces, parameters, or mangled.
// RUN: %python %S/Inputs/status.py 66 %crsan run --kernel first ./collider 2>&1 | FileCheck %s --check-prefixes=FIRST,HALF --implicit-check-not="#0 second"
// RUN: %python %S/Inputs/status.py 66 %crsan run --kernel "ns::fi*" ./metadata 2>&1 | FileCheck %s --check-prefixes=FIRST,HALF --implicit-check-not="#0 second"
// RUN: %python %S/Inputs/status.py 66 %crsan run --kernel "none|ns::first(int*)" --detector=oracle ./collider 2>&1 | FileCheck %s --check-prefix=FIRST --implicit-check-not="#0 void second"
// RUN: %python %S/Inputs/status.py 66 %crsan run --kernel _ZN2ns5firstEPi ./metadata 2>&1 | FileCheck %s --check-prefixes=FIRST,HALF --implicit-check-not="#0 second"
// RUN: %python %S/Inputs/status.py 66 %crsan run --kernel second ./metadata 2>&1 | FileCheck %s --check-prefixes=SECOND,HALF --implicit-check-not="#0 first"
// FIRST: #0 {{(ns::)?}}first
// SECOND: #0 {{(void )?}}second<int>
// HALF: CRSan: 4 kernel launches were left out, as the options kernels or launches ask; races in them are not reported
// HALF: SUMMARY: CRSan: 1 data race

// The third launch is of `first`, the fourth of `second`.
// RUN: %python %S/Inputs/status.py 66 %crsan run --launches 3 ./collider 2>&1 | FileCheck %s --check-prefixes=FIRST,ONE --implicit-check-not="#0 second"
// RUN: %python %S/Inputs/status.py 66 %crsan run --launches 4 ./collider 2>&1 | FileCheck %s --check-prefixes=SECOND,ONE --implicit-check-not="#0 first"
// RUN: %python %S/Inputs/status.py 66 %crsan run --launches 3 ./metadata 2>&1 | FileCheck %s --check-prefixes=FIRST,ONE --implicit-check-not="#0 second"
// RUN: %python %S/Inputs/status.py 66 %crsan run --launches 8- ./metadata 2>&1 | FileCheck %s --check-prefixes=SECOND,ONE --implicit-check-not="#0 first"
// RUN: %python %S/Inputs/status.py 66 %crsan run --launches 3-3 --detector=oracle ./collider 2>&1 | FileCheck %s --check-prefix=FIRST --implicit-check-not="#0 void second"
// ONE: CRSan: 7 kernel launches were left out, as the options kernels or launches ask; races in them are not reported
// ONE: SUMMARY: CRSan: 1 data race

// Where all is left out, silence means nothing.
// RUN: %python %S/Inputs/status.py 67 %crsan run --kernel third ./collider 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %python %S/Inputs/status.py 67 %crsan run --launches 9- ./metadata 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: SUMMARY: CRSan: nothing was checked: every launch of an instrumented kernel was left out, as the options kernels or launches ask

// RUN: %python %S/Inputs/status.py 1 %crsan run --launches 3-1 ./collider 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: CRSan: CRSAN_OPTIONS: launches: '3-1' is no range of launches; write the first and the last, from 1, as in 3-5, or 3- for all from the third

// The fixed twin is silent whatever is asked.
// RUN: %python %S/Inputs/status.py 0 env CRSAN_OPTIONS=verbosity=1 %crsan run --launches 2-7 ./collider fixed 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: %python %S/Inputs/status.py 0 %crsan run --launches 2-7 --kernel second ./metadata fixed 2>&1 | FileCheck %s --check-prefix=CLEAN
// CLEAN: SUMMARY: CRSan: no data races found
#include <cstdio>

namespace ns {
__global__ void first(int *P) { P[threadIdx.x / 2] = int(threadIdx.x); }
} // namespace ns

template <class T> __global__ void second(T *P) {
  P[threadIdx.x / 2] += T(threadIdx.x);
}

__global__ void apart(int *P) { P[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

int main(int Count, char **) {
  int *P;
  cudaMalloc(&P, 4096);
  cudaMemset(P, 0, 4096);
  for (int I = 0; I < 4; ++I) {
    if (Count > 1) {
      apart<<<4, 256>>>(P);
      second<<<1, 1>>>(P);
    } else {
      ns::first<<<4, 256>>>(P);
      second<<<4, 256>>>(P);
    }
  }
  const cudaError_t Error = cudaDeviceSynchronize();
  if (Error != cudaSuccess)
    std::printf("%s\n", cudaGetErrorString(Error));
  return Error != cudaSuccess;
}
