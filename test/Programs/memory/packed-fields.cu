// Intent: neighbours in a packed structure, misaligned ones among them, are written by a
// thread each. In the racy twin two threads write the halves of one byte.
// D is an integer: of a misaligned double, ptxas 13.0 stores the value converted to a byte where
// clang asks for the lowest byte of its bits (F2I.U8.F64), with checks and without.
#include "../check.h"

#pragma pack(push, 1)
struct Packed {
  char A;
  unsigned B;
  short C;
  unsigned long long D;
  unsigned char Low : 4, High : 4;
};
#pragma pack(pop)

constexpr unsigned Count = 32;

__global__ void fill(Packed *Each) {
  unsigned I = threadIdx.x / 4;
  Packed &P = Each[I];
  switch (threadIdx.x % 4) {
  case 0:
    P.A = I;
#ifdef RACY
    P.High = 1; // RACE
#endif
    break;
  case 1:
    P.B = 3 * I;
    P.C = P.B + 1;
    break;
  case 2:
    P.D = 0x0123456789abcdefull * I;
    break;
  case 3:
    P.Low = I % 16; // RACE
#ifndef RACY
    P.High = 1;
#endif
  }
}

int main() {
  Packed *Each = zeroed<Packed>(Count);
  fill<<<1, 4 * Count>>>(Each);
  std::vector<Packed> Host = download(Each, Count);
  bool Right = true;
  for (unsigned I = 0; I < Count; ++I) {
    const Packed &P = Host[I];
    Right &= P.A == int(I) && P.B == 3 * I && P.C == short(3 * I + 1) &&
             P.D == 0x0123456789abcdefull * I && P.Low == I % 16 && P.High == 1;
  }
  return finish(Right);
}
