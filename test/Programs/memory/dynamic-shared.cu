// Intent: two arrays carved out of dynamic shared memory overlap.
#include "../check.h"

constexpr int Threads = 256, Blocks = 8;
CONSTANT Scaled<100, 20> Rounds;
#ifdef RACY
constexpr int Offset = Threads / 2;
#else
constexpr int Offset = Threads;
#endif

extern __shared__ int Arena[];

__global__ void fill(int *Out) {
  int *Up = Arena, *Down = Arena + Offset, Sum = 0;
  for (int R = 1; R <= Rounds; ++R) {
    Up[threadIdx.x] = R;    // RACE
    Down[threadIdx.x] = -R; // RACE
    __syncthreads();
    Sum += 2 * Up[threadIdx.x] + Down[threadIdx.x];
    __syncthreads();
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

int main() {
  int *Out = zeroed<int>(Threads * Blocks);
  fill<<<Blocks, Threads, 2 * Threads * sizeof(int)>>>(Out);
  return finish(matches(Out, Threads * Blocks,
                        [](size_t) { return Rounds * (Rounds + 1) / 2; }));
}
