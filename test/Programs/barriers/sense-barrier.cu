// Intent: a barrier between blocks that turns its sense round each time, so that it
// needs no reset. In the racy twin those who arrive do not release.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Threads = 32, Blocks = 4, Rounds = 4;

struct Barrier {
  unsigned Arrived, Sense;
};

__device__ void wait(Barrier *B, unsigned &Sense) {
  Sense ^= 1;
  __syncthreads();
  if (threadIdx.x == 0) {
#ifdef RACY
    unsigned Arrived = UPDATE(relaxed, add.u32, &B->Arrived, 1);
#else
    unsigned Arrived = UPDATE(acq_rel, add.u32, &B->Arrived, 1);
#endif
    if (Arrived == Blocks - 1) {
      STORE(relaxed, &B->Arrived, 0);
      STORE(release, &B->Sense, Sense);
    } else {
      while (LOAD(acquire, &B->Sense) != Sense)
        ;
    }
  }
  __syncthreads();
}

__global__ void rotate(Barrier *B, unsigned *Cells, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x, Sense = 0, Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = I + R; // RACE
    wait(B, Sense);
    Sum += Cells[(I + Threads) % (Threads * Blocks)]; // RACE
    wait(B, Sense);
  }
  Out[I] = Sum;
}

int main() {
  constexpr unsigned N = Threads * Blocks;
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  rotate<<<Blocks, Threads>>>(zeroed<Barrier>(1), Cells, Out);
  return finish(matches(Out, N, [](size_t I) {
    return unsigned(Rounds * ((I + Threads) % N) + Rounds * (Rounds - 1) / 2);
  }));
}
