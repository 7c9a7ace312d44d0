// Intent: a scan in one pass with decoupled look-back: each tile publishes its sum, and
// later the sum of all up to it, as plain words behind volatile flags and fences.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Threads = 32, Tiles = 8;
constexpr unsigned Nothing = 0, HasSum = 1, HasPrefix = 2;

struct State {
  unsigned NextTile;
  volatile unsigned Status[Tiles];
  unsigned Sum[Tiles], Prefix[Tiles];
};

__device__ unsigned lookBack(State *S, unsigned Tile) {
  unsigned Before = 0;
  for (unsigned T = Tile; T-- > 0;) {
    unsigned Status;
    while ((Status = S->Status[T]) == Nothing)
      ;
#ifndef RACY
    FENCE(acq_rel);
#endif
    if (Status == HasPrefix)
      return Before + S->Prefix[T]; // RACE
    Before += S->Sum[T];            // RACE
  }
  return Before;
}

__global__ void scan(State *S, const unsigned *In, unsigned *Out) {
  __shared__ unsigned Tile, Before;
  // Tiles are numbered as blocks begin, so that a tile waits for running ones only.
  if (threadIdx.x == 0)
    Tile = atomicAdd(&S->NextTile, 1);
  __syncthreads();
  unsigned I = Tile * Threads + threadIdx.x, Value = In[I];
  for (unsigned D = 1; D < Threads; D *= 2) {
    unsigned Left = __shfl_up_sync(~0u, Value, D);
    Value += threadIdx.x >= D ? Left : 0;
  }
  if (threadIdx.x == Threads - 1) {
    S->Sum[Tile] = Value; // RACE
    FENCE(acq_rel);
    S->Status[Tile] = HasSum;
    Before = lookBack(S, Tile);
    S->Prefix[Tile] = Before + Value; // RACE
    FENCE(acq_rel);
    S->Status[Tile] = HasPrefix;
  }
  __syncthreads();
  Out[I] = Before + Value;
}

int main() {
  constexpr unsigned N = Threads * Tiles;
  std::vector<unsigned> In(N);
  for (unsigned I = 0; I < N; ++I)
    In[I] = I;
  unsigned *Out = zeroed<unsigned>(N);
  scan<<<Tiles, Threads>>>(zeroed<State>(1), upload(In), Out);
  return finish(matches(Out, N, [](size_t I) { return unsigned(I * (I + 1) / 2); }));
}
