// Intent: where each thread of a launch accesses a place of its own, nothing is checked, and where
// the launch, or another argument, makes it another's as well, everything is.
// FIXED: own
// RACY: neighbour -DNEIGHBOUR
// RACY: rows-of-blocks -DROWS_OF_BLOCKS
// RACY: same-array -DSAME_ARRAY
// FIXED: other-half -DOTHER_HALF
// FIXED: matrix -DMATRIX
// RACY: narrow-matrix -DMATRIX -DNARROW
// FIXED: matrix-of-columns -DMATRIX -DCOLUMNS
// RACY: short-columns -DMATRIX -DCOLUMNS -DNARROW
// RACY: wide-elements -DWIDE
// RACY: two-streams -DTWO_STREAMS
// UNSEEN-GPU: collider (two-streams): kernels of a few microseconds in two streams seldom run at one time
// FIXED: rounds -DROUNDS
// RACY: moving-rounds -DROUNDS -DMOVING
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;
// Large enough for pages of its own.
constexpr unsigned Allocated = 8 << 20;

#ifdef MATRIX
constexpr unsigned Side = 16;
__global__ void scale(const unsigned *In, unsigned *Out, int Width) {
  int X = blockIdx.x * blockDim.x + threadIdx.x;
  int Y = blockIdx.y * blockDim.y + threadIdx.y;
#ifdef COLUMNS
  Out[X * Width + Y] = In[X] * 2; // RACE: short-columns
#else
  Out[Y * Width + X] = In[X] * 2; // RACE: narrow-matrix
#endif
}
#elif defined(ROUNDS)
__global__ void scale(const unsigned *In, unsigned *Out, int Rounds) {
  unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  for (int R = 0; R < Rounds; ++R)
#ifdef MOVING
    Out[I + R] = In[I] + R; // RACE: moving-rounds
#else
    Out[I] += In[I] + R;
#endif
}
#elif defined(WIDE)
__global__ void scale(const unsigned *In, unsigned *Out, int) {
  unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  *(uint2 *)(Out + 2 * (I / 2 * 2)) = make_uint2(In[I], I); // RACE: wide-elements
}
#else
__global__ void scale(const unsigned *In, unsigned *Out, int) {
  unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef NEIGHBOUR
  Out[I] = Out[(I + 1) % N] + In[I]; // RACE: neighbour
#else
  Out[I] = // RACE: rows-of-blocks two-streams same-array
      In[I] * 2; // RACE: same-array
#endif
}
#endif

int main() {
  unsigned *In = zeroed<unsigned>(Allocated / 4);
  unsigned *Out = zeroed<unsigned>(Allocated / 4);
#if defined(SAME_ARRAY)
  Out = In + 1;
#elif defined(OTHER_HALF)
  Out = In + N;
#endif
#ifdef MATRIX
#ifdef NARROW
  int Width = 2 * Side - 1;
#else
  int Width = 2 * Side;
#endif
  scale<<<dim3(2, 2), dim3(Side, Side)>>>(In, Out, Width);
#elif defined(ROUNDS)
  scale<<<Blocks, Threads>>>(In, Out, 10);
#elif defined(ROWS_OF_BLOCKS)
  scale<<<dim3(Blocks, 2), Threads>>>(In, Out, 0);
#elif defined(TWO_STREAMS)
  cudaStream_t One, Other;
  CHECK(cudaStreamCreateWithFlags(&One, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&Other, cudaStreamNonBlocking));
  scale<<<Blocks, Threads, 0, One>>>(In, Out, 0);
  // Another shape: launches of one are not told apart.
  scale<<<Blocks * 2, Threads / 2, 0, Other>>>(In, Out, 0);
  scale<<<Blocks, Threads, 0, One>>>(In, Out, 0);
  scale<<<Blocks * 2, Threads / 2, 0, Other>>>(In, Out, 0);
#else
  scale<<<Blocks, Threads>>>(In, Out, 0);
#endif
  CHECK(cudaDeviceSynchronize());
  return finish(true);
}
