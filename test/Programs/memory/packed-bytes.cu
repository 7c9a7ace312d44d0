// Intent: four counters in the bytes of a word, which threads raise by atomics on the
// word; afterwards the bytes are read as such. The racy twin sets one byte by a store.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 2, Words = 16;

union Packed {
  unsigned Word;
  unsigned char Bytes[4];
};

__global__ void count(Packed *Out) {
  __shared__ Packed Cells[Words];
  unsigned T = threadIdx.x;
  if (T < Words)
    Cells[T].Word = 0;
  __syncthreads();
  atomicAdd(&Cells[T % Words].Word, 1u << 8 * (T / Words)); // RACE
#ifdef RACY
  if (T >= 3 * Words)
    Cells[(T + 1) % Words].Bytes[3] = 1; // RACE
#else
  if (T >= 3 * Words)
    atomicOr(&Cells[(T + 1) % Words].Word, 1u << 24);
#endif
  __syncthreads();
  if (T < Words)
    for (unsigned B = 0; B < 4; ++B)
      Out[blockIdx.x * Words + T].Bytes[B] = Cells[T].Bytes[B] + B;
}

int main() {
  Packed *Out = zeroed<Packed>(Words * Blocks);
  count<<<Blocks, Threads>>>(Out);
  std::vector<Packed> Host = download(Out, Words * Blocks);
  bool Right = true;
  for (const Packed &P : Host)
    // An addition and an "or" of one bit: one or two, by which came first.
    Right &= P.Bytes[0] == 1 && P.Bytes[1] == 2 && P.Bytes[2] == 3 &&
             (P.Bytes[3] == 4 || P.Bytes[3] == 5);
  return finish(Right);
}
