// Intent: two kernels run side by side, and the host, which polls mapped memory, tells
// the second one what it has learnt from the first. The racy twin's first kernel has no
// fence.
// UNSEEN: metadata: whoever reads what the host may have written acquires everything
// UNSEEN: collider: no value changes while a check looks at it
#include "streams.h"

constexpr unsigned Threads = 64, Rounds = 3;

struct Mapped {
  unsigned Made, Told;
};

__global__ void make(unsigned *Cells, volatile Mapped *Host, unsigned Rounds) {
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[R * Threads + threadIdx.x] = threadIdx.x + R; // RACE
    __syncthreads();
    if (threadIdx.x == 0) {
#ifndef RACY
      __threadfence_system();
#endif
      Host->Made = R + 1;
    }
  }
}

__global__ void take(const unsigned *Cells, volatile Mapped *Host, unsigned *Out,
                     unsigned Rounds) {
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    if (threadIdx.x == 0) {
      while (Host->Told <= R)
        ;
      __threadfence_system();
    }
    __syncthreads();
    Sum += Cells[R * Threads + Threads - 1 - threadIdx.x]; // RACE
  }
  Out[threadIdx.x] = Sum;
}

int main() {
  cudaStream_t Maker = makeStream(), Taker = makeStream();
  unsigned *Cells = zeroed<unsigned>(Rounds * Threads), *Out = zeroed<unsigned>(Threads);
  volatile Mapped *Host;
  CHECK(cudaHostAlloc((void **)&Host, sizeof(Mapped), cudaHostAllocMapped));
  Host->Made = Host->Told = 0;
  // The first launches load the kernels, which may wait for what is running.
  make<<<1, Threads, 0, Maker>>>(Cells, Host, 0);
  take<<<1, Threads, 0, Maker>>>(Cells, Host, Out, 0);
  CHECK(cudaDeviceSynchronize());
  take<<<1, Threads, 0, Taker>>>(Cells, Host, Out, Rounds);
  make<<<1, Threads, 0, Maker>>>(Cells, Host, Rounds);
  while (Host->Told < Rounds) {
    unsigned Made = Host->Made;
    __sync_synchronize();
    Host->Told = Made;
    cudaStreamQuery(Taker);
  }
  CHECK(cudaDeviceSynchronize());
  cudaGetLastError(); // "Not ready" is one.
  return finish(matches(Out, Threads, [](size_t T) {
    return unsigned(Rounds * (Threads - 1 - T) + Rounds * (Rounds - 1) / 2);
  }));
}
