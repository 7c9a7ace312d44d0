// Intent: a stencil overwrites the array that its neighbours still read.
// ALSO: -O0
// ALSO: -O3 -g
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 32, N = Threads * Blocks;
CONSTANT Scaled<20, 2> Steps;

__global__ void step(const unsigned *In, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  unsigned Left = In[(I + N - 1) % N];  // RACE
  unsigned Right = In[(I + 1) % N];     // RACE
  Out[I] = 3 * Left + 5 * Right + 1;    // RACE
}

int main() {
  std::vector<unsigned> Want(N);
  for (unsigned I = 0; I < N; ++I)
    Want[I] = I * 2654435761u;
  unsigned *A = upload(Want), *B = zeroed<unsigned>(N);
  for (unsigned S = 0; S < Steps; ++S) {
#ifdef RACY
    step<<<Blocks, Threads>>>(A, A);
#else
    step<<<Blocks, Threads>>>(A, B);
    std::swap(A, B);
#endif
    std::vector<unsigned> Old = Want;
    for (unsigned I = 0; I < N; ++I)
      Want[I] = 3 * Old[(I + N - 1) % N] + 5 * Old[(I + 1) % N] + 1;
  }
  (void)B;
  return finish(matches(A, N, [&](size_t I) { return Want[I]; }));
}
