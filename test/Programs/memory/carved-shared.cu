// Intent: dynamic shared memory is divided into arrays of different types, and divided
// anew for the next phase. The racy twin has no barrier between the phases.
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;

/// Hands out aligned pieces of the block's dynamic shared memory.
struct Arena {
  unsigned char *Next;

  template <typename T> __device__ T *take(unsigned Count) {
    Next += (alignof(T) - uintptr_t(Next) % alignof(T)) % alignof(T);
    T *Result = reinterpret_cast<T *>(Next);
    Next += Count * sizeof(T);
    return Result;
  }
};

__global__ void work(double *Out) {
  extern __shared__ unsigned char Memory[];
  unsigned T = threadIdx.x, Other = Threads - 1 - T;
  Arena First{Memory};
  auto *Bytes = First.take<unsigned char>(Threads - 3);
  auto *Numbers = First.take<double>(Threads);
  auto *Shorts = First.take<unsigned short>(Threads);
  if (T < Threads - 3)
    Bytes[T] = T;
  Numbers[T] = T * 0.5;
  Shorts[T] = 3 * T;
  __syncthreads();
  double Sum = Numbers[Other] + Shorts[Other]; // RACE
  Sum += Other < Threads - 3 ? Bytes[Other] : 0; // RACE
#ifndef RACY
  __syncthreads();
#endif
  Arena Second{Memory};
  auto *Pairs = Second.take<double2>(Threads / 2);
  if (T < Threads / 2)
    Pairs[T] = make_double2(T, Sum); // RACE
  __syncthreads();
  double2 Pair = Pairs[T / 2];
  Out[blockIdx.x * Threads + T] = T < Threads / 2 ? Sum : Sum + Pair.x;
}

int main() {
  double *Out = zeroed<double>(N);
  work<<<Blocks, Threads, Threads * 12>>>(Out);
  return finish(matches(Out, N, [](size_t I) {
    unsigned T = I % Threads, Other = Threads - 1 - T;
    double Sum = 3.5 * Other + (Other < Threads - 3 ? Other : 0);
    return T < Threads / 2 ? Sum : Sum + T / 2;
  }));
}
