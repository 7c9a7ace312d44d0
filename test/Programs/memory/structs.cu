// Intent: copying a 24-byte struct (a memcpy, to the compiler) from a
// neighbour that copies at the same time.
// ALSO: -O0
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 16, N = Threads * Blocks, Steps = 20;

struct Particle {
  double X, Y;
  unsigned Id, Cell;
};

__global__ void shift(const Particle *In, Particle *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Out[I] = In[(I + 1) % N]; // RACE
}

int main() {
  std::vector<Particle> Start(N);
  for (unsigned I = 0; I < N; ++I)
    Start[I] = {double(I), -double(I), I, I / 2};
  Particle *A = upload(Start), *B = zeroed<Particle>(N);
  for (unsigned S = 0; S < Steps; ++S) {
#ifdef RACY
    shift<<<Blocks, Threads>>>(A, A);
#else
    shift<<<Blocks, Threads>>>(A, B);
    std::swap(A, B);
#endif
  }
  (void)B;
  std::vector<Particle> End = download(A, N);
  bool Right = true;
  for (unsigned I = 0; I < N; ++I)
    Right &= End[I].Id == (I + Steps) % N && End[I].Y == -End[I].X &&
             End[I].X == End[I].Id && End[I].Cell == End[I].Id / 2;
  return finish(Right);
}
