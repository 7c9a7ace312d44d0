// Intent: a struct passed by value is indexed at run time and written to; every
// thread has its own, though all have one address.
// CLEAN-ONLY
// ALSO: -O0
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, Size = 24;

struct Table {
  unsigned Values[Size];
};

__device__ __noinline__ unsigned lookUp(Table T, unsigned I) {
  T.Values[(I + 1) % Size] += threadIdx.x;
  return T.Values[I % Size] + T.Values[(I + 1) % Size];
}

__global__ void gather(Table T, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  unsigned Sum = lookUp(T, I);
  T.Values[I % Size] = I;
  Sum += T.Values[I % Size] + T.Values[(I + 5) % Size];
  Out[I] = Sum;
}

int main() {
  Table T;
  for (unsigned I = 0; I < Size; ++I)
    T.Values[I] = I;
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  gather<<<Blocks, Threads>>>(T, Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    return I % Size + (I + 1) % Size + I % Threads + I + (I + 5) % Size;
  }));
}
