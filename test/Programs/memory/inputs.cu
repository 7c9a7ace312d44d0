// Intent: what a kernel reads through one argument and writes through another is not checked where
// they are different allocations, and is where they are not, or where another grid may write it.
// FIXED: apart
// RACY: same -DSAME
// RACY: in-a-structure -DSAME -DSTRUCTURE
// RACY: two-streams -DTWO_STREAMS
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;
// Large enough for pages of its own.
constexpr unsigned Allocated = 8 << 20;

struct Arrays {
  const unsigned *In;
  unsigned *Out;
};

#ifdef STRUCTURE
__global__ void shift(Arrays A, unsigned Rounds) {
#else
__global__ void shift(const unsigned *In, unsigned *Out, unsigned Rounds) {
  Arrays A = {In, Out};
#endif
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    A.Out[I] = // RACE: same in-a-structure
        A.In[(I + Threads) % N] + 1; // RACE
    __syncthreads();
  }
}

__global__ void fill(unsigned *Out, unsigned Rounds) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Out[I] = R; // RACE: two-streams
    __syncthreads();
  }
}

int main() {
  unsigned *In = zeroed<unsigned>(Allocated / 4);
  unsigned *Out = zeroed<unsigned>(Allocated / 4);
#ifdef SAME
  Out = In;
#endif
  cudaStream_t Other;
  CHECK(cudaStreamCreateWithFlags(&Other, cudaStreamNonBlocking));
  auto Shift = [&](cudaStream_t Stream, unsigned Rounds) {
#ifdef STRUCTURE
    shift<<<Blocks, Threads, 0, Stream>>>(Arrays{In, Out}, Rounds);
#else
    shift<<<Blocks, Threads, 0, Stream>>>(In, Out, Rounds);
#endif
  };
  Shift(nullptr, 1);
#ifdef TWO_STREAMS
  // A first launch loads the kernel, which may wait for what is running.
  fill<<<Blocks, Threads, 0, Other>>>(In, 0);
  CHECK(cudaDeviceSynchronize());
  CONSTANT Scaled<300, 40> Rounds;
  for (unsigned Turn = 0; Turn < 3; ++Turn) {
    fill<<<Blocks, Threads, 0, Other>>>(In, Rounds);
    Shift(nullptr, Rounds);
    CHECK(cudaDeviceSynchronize());
  }
#endif
  CHECK(cudaDeviceSynchronize());
#if defined(SAME) || defined(TWO_STREAMS)
  return finish(true);
#else
  return finish(matches(Out, N, [](size_t) { return 1; }));
#endif
}
