// Intent: a race along z in a three-dimensional block of a three-dimensional
// grid.
#include "../check.h"

constexpr unsigned X = 8, Y = 4, Z = 8, Grid = 2, Rounds = 50;
constexpr unsigned Threads = X * Y * Z, Blocks = Grid * Grid * Grid;

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Tile[Z][Y][X];
  unsigned Sum = 0;
  unsigned Thread = (threadIdx.z * Y + threadIdx.y) * X + threadIdx.x;
  unsigned Block = (blockIdx.z * Grid + blockIdx.y) * Grid + blockIdx.x;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Tile[threadIdx.z][threadIdx.y][threadIdx.x] = R * Block + Thread * R; // RACE
#ifndef RACY
    __syncthreads();
#endif
    Sum += Tile[(threadIdx.z + 1) % Z][threadIdx.y][threadIdx.x]; // RACE
    __syncthreads();
  }
  Out[Block * Threads + Thread] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  exchange<<<dim3(Grid, Grid, Grid), dim3(X, Y, Z)>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    unsigned Neighbour = (I % Threads + X * Y) % Threads;
    return (I / Threads + Neighbour) * (Rounds * (Rounds + 1) / 2);
  }));
}
