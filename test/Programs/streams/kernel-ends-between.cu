// Intent: a kernel that goes on running releases its data to a second one, which ends;
// a third one, behind that in its stream, reads them. The racy twin does not release.
// UNSEEN: collider: no value changes while a check looks at it
#include "../orders.h"
#include "streams.h"

constexpr unsigned Threads = 32;

struct Flags {
  unsigned IsThere, MayEnd;
};

__global__ void make(unsigned *Cells, Flags *F) {
  Cells[threadIdx.x] = threadIdx.x + 1; // RACE
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(RELEASE_UNLESS_RACY, &F->IsThere, 1);
    while (LOAD(relaxed, &F->MayEnd) == 0)
      ;
  }
}

__global__ void wait(Flags *F) {
  while (LOAD(acquire, &F->IsThere) == 0)
    ;
}

__global__ void take(const unsigned *Cells, unsigned *Out) {
  Out[threadIdx.x] = Cells[Threads - 1 - threadIdx.x]; // RACE
}

__global__ void end(Flags *F) { STORE(relaxed, &F->MayEnd, 1); }

int main() {
  cudaStream_t Maker = makeStream(), Taker = makeStream();
  unsigned *Cells = zeroed<unsigned>(Threads), *Out = zeroed<unsigned>(Threads);
  Flags *F = zeroed<Flags>(2);
  // The first launches load the kernels, which may wait for what is running.
  end<<<1, 1, 0, Maker>>>(F + 1);
  make<<<1, Threads, 0, Maker>>>(Cells, F + 1);
  wait<<<1, 1, 0, Maker>>>(F + 1);
  take<<<1, Threads, 0, Maker>>>(Cells, Out);
  CHECK(cudaDeviceSynchronize());
  make<<<1, Threads, 0, Maker>>>(Cells, F);
  wait<<<1, 1, 0, Taker>>>(F);
  take<<<1, Threads, 0, Taker>>>(Cells, Out);
  end<<<1, 1, 0, Taker>>>(F);
  return finish(matches(Out, Threads, [](size_t T) { return unsigned(Threads - T); }));
}
