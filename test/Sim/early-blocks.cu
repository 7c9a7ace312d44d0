// Intent: in a grid that fills the device twice, mostly blocks of the first half are checked, but not in all launches. In a small grid both halves are.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// DEFINE: %{run} = env CRSAN_OPTIONS=shuffle=0:early_blocks=1:sim_multiprocessors=1:budget=1:overhead=100 %crsan run --device=sim --seeds 1-8 --coverage --format=json
// RUN: %{run} -o %t.1.json %t 256 > /dev/null
// RUN: %python -c "import json, sys; A = json.load(open(sys.argv[1]))['coverage']; C = {N: sum(X['checks'] for X in A if X['line'] == N) for N in (13, 15)}; print(C); assert C[13] > 2 * C[15] > 0, C" %t.1.json
// RUN: %{run} -o %t.2.json %t 64 > /dev/null
// RUN: %python -c "import json, sys; A = json.load(open(sys.argv[1]))['coverage']; C = {N: sum(X['checks'] for X in A if X['line'] == N) for N in (13, 15)}; print(C); assert 2 * C[15] > C[13], C" %t.2.json
#include <cstdlib>

__global__ void work(unsigned *Data) {
  if (blockIdx.x < gridDim.x / 2)
    Data[blockIdx.x * 32 + threadIdx.x] = 1;
  else
    Data[blockIdx.x * 32 + threadIdx.x] += 2;
}

int main(int, char **Args) {
  const int Blocks = atoi(Args[1]);
  unsigned *Data;
  cudaMalloc(&Data, 256 * 128);
  for (unsigned Launch = 0; Launch < 60; ++Launch)
    work<<<Blocks, 32>>>(Data);
  cudaDeviceSynchronize();
}
