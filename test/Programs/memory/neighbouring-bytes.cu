// Intent: the lanes of a warp write the four bytes of a word at the same time, and one of the bytes
// is read by another warp; in the racy twins without a barrier.
// RACY: first -DBYTE=0
// RACY: second -DBYTE=1
// RACY: third -DBYTE=2
// RACY: fourth -DBYTE=3
// FIXED: barrier
#include "../check.h"

constexpr unsigned Lanes = 32, Words = Lanes / 4;

__global__ void share(unsigned char *Out) {
  __shared__ unsigned char Bytes[Lanes];
  unsigned T = threadIdx.x;
  if (T < Lanes)
    Bytes[T] = T + 1; // RACE
#ifndef BYTE
#define BYTE 0
  __syncthreads();
#endif
  if (T >= Lanes)
    Out[T - Lanes] = Bytes[4 * (T - Lanes) + BYTE]; // RACE
}

int main() {
  unsigned char *Out = zeroed<unsigned char>(Words);
  share<<<1, Lanes + Words>>>(Out);
  return finish(matches(Out, Words, [](size_t I) { return 4 * I + 1 + BYTE; }));
}
