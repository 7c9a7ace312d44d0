// Intent: the lanes that have something to append are served by one of them, which takes
// places for all by one atomic. In the racy twin it does not take enough.
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;

__host__ __device__ bool isChosen(unsigned I) { return I % 3 == 0 || I % 7 == 1; }

__device__ unsigned place(unsigned *Next) {
  unsigned Active = __activemask(), Lane = threadIdx.x % 32;
  unsigned Rank = __popc(Active & ((1u << Lane) - 1)), First = 0;
#ifdef RACY
  unsigned Count = (__popc(Active) + 1) / 2;
#else
  unsigned Count = __popc(Active);
#endif
  if (Rank == 0)
    First = atomicAdd(Next, Count);
  return __shfl_sync(Active, First, __ffs(Active) - 1) + Rank;
}

__global__ void filter(unsigned *Next, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  if (isChosen(I))
    Out[place(Next)] = I; // RACE
}

int main() {
  unsigned *Next = zeroed<unsigned>(1), *Out = zeroed<unsigned>(2 * N);
  filter<<<Blocks, Threads>>>(Next, Out);
  unsigned Count = 0, Sum = 0;
  for (unsigned I = 0; I < N; ++I)
    if (isChosen(I)) {
      ++Count;
      Sum += I;
    }
  for (unsigned I : download(Out, Count))
    Sum -= I;
  return finish(matches(Next, 1, [=](size_t) { return Count; }) && Sum == 0);
}
