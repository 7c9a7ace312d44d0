// Intent: of two windows, the second of which always comes while its block pauses after a check of the first, both are checked about equally often.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// RUN: env CRSAN_OPTIONS=seed=1:budget=1:overhead=20 %crsan run --device=sim --coverage --format=json -o %t.1.json %t > /dev/null
// RUN: env CRSAN_OPTIONS=seed=2:budget=1:overhead=20 %crsan run --device=sim --coverage --format=json -o %t.2.json %t > /dev/null
// RUN: env CRSAN_OPTIONS=seed=3:budget=1:overhead=20 %crsan run --device=sim --coverage --format=json -o %t.3.json %t > /dev/null
// RUN: env CRSAN_OPTIONS=seed=4:budget=1:overhead=20 %crsan run --device=sim --coverage --format=json -o %t.4.json %t > /dev/null
// RUN: %python -c "import json, sys; A = [A for P in sys.argv[1:] for A in json.load(open(P))['coverage']]; C = {N: sum(X['checks'] for X in A if X['line'] == N) for N in (11, 13)}; assert 40 <= C[11] <= 3 * C[13] <= 9 * C[11], C" %t.1.json %t.2.json %t.3.json %t.4.json

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
