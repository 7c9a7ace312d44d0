// Intent: a window that always comes while its block pauses after the check of another one is checked as often as that one.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// RUN: env CRSAN_OPTIONS=budget=1:overhead=100 %crsan run --device=sim --coverage --format=json -o %t.json %t > /dev/null
// RUN: %python -c "import json, sys; C = {A['line']: A['checks'] for A in json.load(open(sys.argv[1]))['coverage']}; assert 10 <= C[11] <= 3 * C[13] <= 9 * C[11], C" %t.json

__global__ void work(unsigned *First, unsigned *Second, unsigned Rounds) {
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    __nanosleep(100000); // The pause is over.
    __syncthreads();
    First[threadIdx.x] = Round;
    __syncthreads();
    Second[threadIdx.x] = Round;
  }
}

int main() {
  unsigned *Data;
  cudaMalloc(&Data, 256);
  work<<<1, 32>>>(Data, Data + 32, 200);
  cudaDeviceSynchronize();
}
