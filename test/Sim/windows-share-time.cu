// Intent: of two windows, the second of which always comes while its block pauses after a check of the first, both are checked about equally often.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// RUN: env CRSAN_OPTIONS=budget=1:overhead=20 %crsan run --device=sim --coverage --format=json -o %t.json %t > /dev/null
// RUN: %python -c "import json, sys; C = {A['line']: A['checks'] for A in json.load(open(sys.argv[1]))['coverage']}; assert 10 <= C[8] <= 3 * C[10] <= 9 * C[8], C" %t.json

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
