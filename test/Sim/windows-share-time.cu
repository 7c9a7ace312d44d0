// Intent: of two windows, the second of which always comes while its block pauses after a check of the first, neither is checked six times as often as the other. If windows did not share the time, the first would be checked a hundred times as often.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// RUN: env CRSAN_OPTIONS=budget=1:overhead=20 %crsan run --device=sim --seeds 1-12 --coverage --format=json -o %t.json %t > /dev/null
// RUN: %python -c "import json, sys; A = json.load(open(sys.argv[1]))['coverage']; C = {N: sum(X['checks'] for X in A if X['line'] == N) for N in (8, 10)}; assert 120 <= C[8] <= 6 * C[10] <= 36 * C[8], C" %t.json

__global__ void work(unsigned *First, unsigned *Second) {
  First[threadIdx.x] = 1;
  __syncthreads();
  Second[threadIdx.x] = 1;
  __syncthreads();
  __nanosleep(1000000); // Until the pause is over.
}

int main() {
  unsigned *Data;
  cudaMalloc(&Data, 256);
  for (unsigned Launch = 0; Launch < 200; ++Launch)
    work<<<1, 32>>>(Data, Data + 32);
  cudaDeviceSynchronize();
}
