// Intent: two streams work on the halves of what a third has made, which goes on when
// both are done. The racy twin waits for one of them.
#include "streams.h"

constexpr unsigned Threads = 64, N = 2 * Threads, Rounds = 3;

__global__ void make(unsigned *Cells, unsigned Round) {
  Cells[threadIdx.x] += threadIdx.x + Round; // RACE
}

__global__ void twice(unsigned *Half) {
  Half[threadIdx.x] *= 2; // RACE
}

__global__ void thrice(unsigned *Half) {
  Half[threadIdx.x] *= 3; // RACE
}

int main() {
  cudaStream_t Main = makeStream(), Left = makeStream(), Right = makeStream();
  unsigned *Cells = zeroed<unsigned>(N);
  for (unsigned R = 0; R < Rounds; ++R) {
    make<<<1, N, 0, Main>>>(Cells, R);
    order(Main, Left);
    order(Main, Right);
    twice<<<1, Threads, 0, Left>>>(Cells);
    thrice<<<1, Threads, 0, Right>>>(Cells + Threads);
    order(Left, Main);
#ifndef RACY
    order(Right, Main);
#endif
  }
  return finish(matches(Cells, N, [](size_t I) {
    unsigned Value = 0;
    for (unsigned R = 0; R < Rounds; ++R)
      Value = (Value + I + R) * (I < Threads ? 2 : 3);
    return Value;
  }));
}
