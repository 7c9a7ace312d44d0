// Intent: accesses of shared memory that the source shows to be apart, or kept apart by barriers, are
// not checked, and what only looks like it is.
// FIXED: tile
// RACY: one-barrier -DONE_BARRIER
// RACY: no-barrier -DNO_BARRIER
// RACY: too-wide -DTOO_WIDE
// RACY: some-wait -DSOME_WAIT
// FIXED: all-wait -DALL_WAIT
// FIXED: parity -DPARITY
// RACY: same-parity -DPARITY -DSAME_PARITY
// RACY: passed-on -DPASSED_ON
// FIXED: counted -DCOUNTED
// RACY: read-while-counted -DCOUNTED -DREAD_WHILE
// FIXED: two-names -DTWO_NAMES
// RACY: two-names-at-once -DTWO_NAMES -DAT_ONCE
// RACY: early-loop-exit -DEARLY_EXIT
// FIXED: margin -DMARGIN
// RACY: high-margin -DMARGIN -DHIGH
// RACY: every-column -DMARGIN -DEVERY_COLUMN
// FIXED: structures -DSTRUCTURES
// RACY: next-structure -DSTRUCTURES -DNEXT
#include "../check.h"

constexpr unsigned Side = 16, Threads = Side * Side, Blocks = 4;

#ifdef TWO_NAMES
extern __shared__ unsigned First[];
extern __shared__ unsigned Second[];

// Both are one place.
__global__ void work(unsigned *Out, unsigned Rounds) {
  unsigned T = threadIdx.y * Side + threadIdx.x, Sum = 0;
  First[T] = T; // RACE: two-names-at-once
#ifndef AT_ONCE
  __syncthreads();
#endif
  Sum += Second[Threads - 1 - T]; // RACE: two-names-at-once
  __syncthreads();
  Out[blockIdx.x * Threads + T] = Sum;
}
#elif defined(COUNTED)
__global__ void work(unsigned *Out, unsigned Rounds) {
  __shared__ unsigned Counts[Side];
  unsigned T = threadIdx.y * Side + threadIdx.x, Sum = 0;
  if (T < Side)
    Counts[T] = 0;
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R)
    atomicAdd(&Counts[(T + R) % Side], 1); // RACE: read-while-counted
#ifndef READ_WHILE
  __syncthreads();
#endif
  Sum = Counts[T % Side]; // RACE: read-while-counted
  Out[blockIdx.x * Threads + T] = Sum;
}
#elif defined(PARITY)
// One barrier a round is enough for two tiles.
__global__ void work(unsigned *Out, unsigned Rounds) {
  __shared__ unsigned Tiles[2][Threads];
  unsigned T = threadIdx.y * Side + threadIdx.x, Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
#ifdef SAME_PARITY
    unsigned *Tile = Tiles[R / 64];
#else
    unsigned *Tile = Tiles[R % 2];
#endif
    Tile[T] = T + R; // RACE: same-parity
    __syncthreads();
    Sum += Tile[Threads - 1 - T]; // RACE: same-parity
  }
  Out[blockIdx.x * Threads + T] = Sum;
}
#elif defined(EARLY_EXIT)
// Some come to the last barrier while others are at the one in the loop.
__global__ void work(unsigned *Out, unsigned Rounds) {
  __shared__ unsigned Tile[Threads];
  unsigned T = threadIdx.y * Side + threadIdx.x, Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Tile[T] = T + R; // RACE
    if (R == 3 && T >= Threads / 2)
      break;
    __syncthreads(); // RACE: early-loop-exit
    Sum += Tile[R % Threads];
    __syncthreads();
  }
  Sum += Tile[(T + Threads / 2) % Threads]; // RACE
  __syncthreads(); // RACE: early-loop-exit
  Out[blockIdx.x * Threads + T] = Sum;
}
#elif defined(MARGIN)
constexpr unsigned High = Side / 2;
__global__ void work(unsigned *Out, unsigned) {
  __shared__ unsigned Tile[High + 4][Side + 2];
  unsigned X = threadIdx.x + 1, Y = threadIdx.y + 1;
  Tile[Y][X] = X; // RACE: high-margin
#ifdef EVERY_COLUMN
  if (Out)
#else
  if (X == 1)
#endif
    Tile[Y][0] = X; // RACE: every-column
  if (X == Side)
    Tile[Y][Side + 1] = X;
  if (Y == 1)
    Tile[0][X] = Y;
  if (Y == High)
    Tile[High + 1][X] = Y; // RACE: high-margin
  __syncthreads();
  Out[blockIdx.x * Threads + Y * Side + X] = Tile[Y][X - 1] + Tile[Y + 1][X];
}
#elif defined(STRUCTURES)
struct Four {
  unsigned A, B, C, D;
};
__global__ void work(unsigned *Out, unsigned) {
  __shared__ Four Tile[Threads + 1];
  unsigned T = threadIdx.y * blockDim.x + threadIdx.x;
  Tile[T].A = T; // RACE: next-structure
  Tile[T].C = T;
#ifdef NEXT
  (&Tile[T].D)[1] = T; // RACE: next-structure
#else
  Tile[T].D = T;
#endif
  __syncthreads();
  Out[blockIdx.x * Threads + T] = Tile[Threads - 1 - T].D;
}
#else
__device__ unsigned *volatile Passed;

__global__ void work(unsigned *Out, unsigned Rounds) {
  __shared__ unsigned Tile[Side + 1][Side];
  unsigned X = threadIdx.x, Y = threadIdx.y, Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
#ifdef PASSED_ON
    if (blockIdx.x == 0) {
      Passed = &Tile[0][0];
      Sum += Passed[Threads - 1 - Y * Side - X]; // RACE: passed-on
    }
#endif
    Tile[Y][X] = Y * Side + X + R; // RACE
#ifdef SOME_WAIT
    if (Y < Side / 2)
      __syncthreads(); // RACE: some-wait
#elif defined(ALL_WAIT)
    if (Rounds > gridDim.y)
      __syncthreads();
#elif !defined(NO_BARRIER)
    __syncthreads();
#endif
    Sum += Tile[X % Side][Y]; // RACE: one-barrier no-barrier some-wait
#ifndef ONE_BARRIER
    __syncthreads(); // RACE: some-wait
#endif
  }
  Out[blockIdx.x * Threads + (Y * Side + X) % Threads] = Sum; // RACE: too-wide
}
#endif

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
#ifdef TOO_WIDE
  work<<<Blocks, dim3(2 * Side, Side)>>>(Out, 20);
#elif defined(TWO_NAMES)
  work<<<Blocks, dim3(Side, Side), Threads * 4>>>(Out, 20);
#elif defined(HIGH)
  work<<<Blocks, dim3(Side, High + 1)>>>(Out, 20);
#elif defined(MARGIN)
  work<<<Blocks, dim3(Side, High)>>>(Out, 20);
#else
  work<<<Blocks, dim3(Side, Side)>>>(Out, 20);
#endif
  CHECK(cudaDeviceSynchronize());
  return finish(true);
}
