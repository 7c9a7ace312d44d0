// Intent: the collider checks each window as often as its budget says, if it runs that often, and
// then limits the time of checks to a share of a kernel's; windows of two groups, too. Without a limit the kernel takes 260 times as long. Warps that ask in vain are not counted, and on the simulated GPU take as long as a check.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// RUN: env CRSAN_OPTIONS=enabled=0 %crsan run --device=sim %t > %t.native || true
// RUN: env CRSAN_OPTIONS=budget=96:overhead=100 %crsan run --device=sim %t > %t.default
// RUN: env CRSAN_OPTIONS=budget=5:overhead=10 %crsan run --device=sim %t > %t.light
// RUN: %python -c "import sys; N, D, L = (sorted(map(int, open(P).read().split()))[4] for P in sys.argv[1:]); assert D <= 10 * N and L <= 3 * N, (N, D, L)" %t.native %t.default %t.light
//
// The rare window runs 12 times (parts of a warp count each), the common one 9,600 times.
// RUN: env CRSAN_OPTIONS=budget=96:overhead=100 %crsan run --device=sim --coverage --format=json -o %t.json %t > /dev/null
// RUN: %python -c "import json, sys; C = {A['line']: A['checks'] for A in json.load(open(sys.argv[1]))['coverage']}; assert 12 <= C[21] <= 24 and 48 <= C[23] < 1000, C" %t.json
#include <cstdio>

__device__ unsigned long long Took;

__global__ void work(unsigned *Sums, unsigned Rounds) {
  extern __shared__ unsigned Tile[];
  const unsigned long long Begin = clock64();
  if (threadIdx.x < 32)
    Sums[threadIdx.x] = Rounds;
  for (unsigned R = 0; R < Rounds; ++R) {
    Tile[threadIdx.x] = R;
    __syncthreads();
    Sums[threadIdx.x + 256] += Tile[threadIdx.x ^ 1];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    Took = clock64() - Begin;
}

int main() {
  unsigned *Sums;
  cudaMalloc(&Sums, 4096);
  // The first launches use up the budget. Of the others the median counts, since a warp also pays for
  // checks that it may not make yet.
  for (unsigned Launch = 0; Launch < 12; ++Launch) {
    work<<<1, 256, 1024>>>(Sums, 100);
    unsigned long long Cycles = 0;
    cudaMemcpyFromSymbol(&Cycles, Took, sizeof(Cycles));
    if (Launch >= 3)
      std::printf("%llu\n", Cycles);
  }
}
