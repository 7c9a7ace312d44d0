// Intent: at one barrier, some warps of a block are in a function that was
// built for the collider, which has acquired something before it; the others are not.
// CLEAN-ONLY
// EXPECT: CRSan: metadata mode: [1-9]\d* calls on device 0 were of functions that were compiled without it
// BUILD: -fgpu-rdc
// APART: Inputs/meeting.cu -fgpu-rdc -fsanitize=cuda-race
#include "../check.h"

constexpr unsigned Threads = 128, Pairs = 8, Rounds = 3, Stride = 32;

__device__ void hearAndMeet(unsigned *Flag);

__global__ void relay(unsigned *Cells, unsigned *Told, unsigned *Out) {
  const unsigned I = threadIdx.x, Pair = blockIdx.x % Pairs;
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned *Mine = Cells + (R * Pairs + Pair) * Threads;
    unsigned *Flag = Told + (R * Pairs + Pair) * Stride;
    if (blockIdx.x < Pairs) {
      Mine[I] = I + R;
      __syncthreads();
      if (I == 0) {
        __threadfence();
        atomicExch(Flag, 1);
      }
      continue;
    }
    unsigned *Theirs = Out + (R * Pairs + Pair) * Threads;
    Theirs[I] = 1;
    if (I < 32)
      hearAndMeet(Flag);
    else
      __syncthreads();
    Theirs[(I + 32) % Threads] += Mine[I];
    // The warps have passed unequally many barriers that are counted.
    __syncthreads();
    Theirs[(I + 64) % Threads] += 1;
    __syncthreads();
  }
}

int main() {
  constexpr unsigned N = Rounds * Pairs * Threads;
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  unsigned *Told = zeroed<unsigned>(Rounds * Pairs * Stride);
  relay<<<2 * Pairs, Threads>>>(Cells, Told, Out);
  return finish(matches(Out, N, [](size_t I) {
    return unsigned((I + Threads - 32) % Threads + I / (Pairs * Threads) + 2);
  }));
}
