// Intent: a thread's own stores, through pointers that may or do alias, between
// its own reads are not races.
// CLEAN-ONLY
// ALSO: -O0
#include "../check.h"

constexpr unsigned Threads = 64, Size = 12;
CONSTANT Scaled<8, 1> Blocks;

__device__ __noinline__ void exchange(unsigned *A, unsigned *B) {
  unsigned Old = *A;
  *A = *B;
  *B = Old;
  *A += 0 * *B;
}

__global__ void sort(unsigned *Data, unsigned *Out) {
  __shared__ unsigned Tile[Threads * Size];
  unsigned I = blockIdx.x * Threads + threadIdx.x, Sum = 0;
  unsigned *Own = Tile + threadIdx.x * Size, *OwnGlobal = Data + I * Size;
  for (unsigned K = 0; K < Size; ++K)
    Own[K] = OwnGlobal[K];
  for (unsigned K = 1; K < Size; ++K)
    for (unsigned J = K; J > 0 && Own[J - 1] > Own[J]; --J)
      exchange(&Own[J - 1], &Own[J]);
  for (unsigned K = 0; K < Size; ++K) {
    exchange(&Own[K], &Own[K]);
    OwnGlobal[K] = Own[K];
    Sum += OwnGlobal[K] * K;
  }
  Out[I] = Sum;
}

int main() {
  const unsigned N = Threads * Blocks;
  std::vector<unsigned> Values(N * Size);
  for (unsigned I = 0; I < N * Size; ++I)
    Values[I] = Size - I % Size;
  unsigned *Data = upload(Values), *Out = zeroed<unsigned>(N);
  sort<<<Blocks, Threads>>>(Data, Out);
  return finish(
      matches(Data, N * Size, [](size_t I) { return I % Size + 1; }) &&
      matches(Out, N, [](size_t) {
        unsigned Sum = 0;
        for (unsigned K = 0; K < Size; ++K)
          Sum += (K + 1) * K;
        return Sum;
      }));
}
