// Intent: the lanes of a warp write the four bytes of a word at the same time, and one of the bytes
// is read by another warp; in the racy twins without a barrier. In each of several rounds, since metadata mode may miss a
// read that takes place between the writes of the four lanes.
// RACY: first -DBYTE=0
// RACY: second -DBYTE=1
// RACY: third -DBYTE=2
// RACY: fourth -DBYTE=3
// FIXED: barrier
#include "../check.h"

constexpr unsigned Lanes = 32, Words = Lanes / 4, Rounds = 8;

__global__ void share(unsigned char *Out) {
  __shared__ unsigned char Bytes[Rounds][Lanes];
  unsigned T = threadIdx.x;
#pragma unroll 1
  for (unsigned R = 0; R < Rounds; ++R) {
    if (T < Lanes)
      Bytes[R][T] = T + 1; // RACE
#ifndef BYTE
#define BYTE 0
    __syncthreads();
#endif
    if (T >= Lanes)
      Out[R * Words + T - Lanes] = Bytes[R][4 * (T - Lanes) + BYTE]; // RACE
  }
}

int main() {
  unsigned char *Out = zeroed<unsigned char>(Rounds * Words);
  share<<<1, Lanes + Words>>>(Out);
  return finish(matches(Out, Rounds * Words, [](size_t I) {
    return 4 * (I % Words) + 1 + BYTE;
  }));
}
