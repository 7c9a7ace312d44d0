// Intent: what a program calls benign is not checked and is counted, and what it says happens before
// something does, for every detector; annotations at another address order nothing. Without CRSan
// they are nothing.

// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir -p %t
// DEFINE: %{build} = %crsan_clangxx -O2 --offload-arch=sm_90 -Wall -Wextra -Werror -Wno-unknown-cuda-version %s
// DEFINE: %{run} = env CRSAN_OPTIONS=verbosity=1 %python %S/Inputs/status.py
// RUN: %{build} -fsanitize=cuda-race -o %t/collider
// RUN: %{run} 0 %crsan run %t/collider 2>&1 | FileCheck %s --check-prefixes=PASS,EXEMPT
// RUN: %{build} -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -o %t/metadata
// RUN: %{run} 0 %crsan run %t/metadata 2>&1 | FileCheck %s --check-prefixes=PASS,EXEMPT
// RUN: %{run} 0 %crsan run --detector=oracle %t/metadata 2>&1 | FileCheck %s --check-prefixes=PASS,ORACLE
// PASS: PASS
// EXEMPT: no data races found in what was checked (2 accesses exempt)
// ORACLE: CRSan: [[#N:]] accesses not checked, as annotations ask
// ORACLE: no data races found in what was checked ([[#N]] accesses exempt)

// RUN: %{build} -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -DELSEWHERE -o %t/elsewhere
// RUN: %{run} 66 %crsan run %t/elsewhere 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %{run} 66 %crsan run --detector=oracle %t/elsewhere 2>&1 | FileCheck %s --check-prefix=RACY
// RACY-DAG: of 4 bytes at {{.*}}annotations.cu:[[#@LINE+20]]:
// RACY-DAG: of 4 bytes at {{.*}}annotations.cu:[[#@LINE+30]]:

// RUN: %{build} --cuda-include-ptx=sm_90 --cuda-path=%cuda_path -I%crsan_build/include -L%cuda_path/lib64 -lcudart -o %t/plain
// RUN: %{run} 0 %crsan run --detector=none %t/plain 2>&1 | FileCheck %s --check-prefix=PASS

#include <crsan/crsan.h>
#include <cstdio>

constexpr unsigned Threads = 128;

/// The first warp hands a value to each of the others by a flag with no order.
__global__ void handOver(unsigned *Seen, unsigned *Out) {
  __shared__ unsigned Values[Threads / 32];
  __shared__ volatile unsigned Flags[Threads / 32];
  const unsigned Warp = threadIdx.x / 32, Last = Threads / 32 - 1;
  if (threadIdx.x < Threads / 32)
    Flags[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x < Last) {
    Values[1 + threadIdx.x] = 10 + threadIdx.x;
#ifdef ELSEWHERE
    crsan_happens_before(&Out[2 * Threads + 64 * threadIdx.x]);
#else
    crsan_happens_before(&Values[1 + threadIdx.x]);
#endif
    Flags[1 + threadIdx.x] = 1;
  } else if (Warp > 0 && threadIdx.x % 32 == 0) {
    while (!Flags[Warp])
      ;
    crsan_happens_after(&Values[Warp]);
    Out[blockIdx.x * Threads + threadIdx.x] = Values[Warp];
  }
  if (crsan_benign_load(Seen) < 7)
    crsan_benign_store(Seen, 7);
}

int main() {
  unsigned *Seen, *Out, Host[2 * Threads];
  cudaMalloc(&Seen, sizeof(unsigned));
  cudaMalloc(&Out, 2 * sizeof(Host));
  cudaMemset(Seen, 0, sizeof(unsigned));
  handOver<<<2, Threads>>>(Seen, Out);
  cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost);
  bool IsRight = true;
  for (unsigned Warp = 1; Warp < Threads / 32; ++Warp)
    IsRight &= Host[Threads + 32 * Warp] == 9 + Warp;
  std::puts(IsRight ? "PASS" : "FAIL");
}
