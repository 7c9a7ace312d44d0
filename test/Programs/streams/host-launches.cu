// Intent: a kernel that goes on running tells the host by mapped memory that its data are
// there, and the host launches another kernel, which reads them. The racy twin's first
// kernel has no fence.
// UNSEEN: metadata: a kernel that is given memory of the host's may have told it
// UNSEEN: collider: no value changes while a check looks at it
#include "streams.h"

constexpr unsigned Threads = 64;

struct Mapped {
  unsigned IsThere, MayEnd;
};

__global__ void make(unsigned *Cells, volatile Mapped *Host) {
  Cells[threadIdx.x] = threadIdx.x + 1; // RACE
  __syncthreads();
  if (threadIdx.x == 0) {
#ifndef RACY
    __threadfence_system();
#endif
    Host->IsThere = 1;
    while (Host->MayEnd == 0)
      ;
  }
}

__global__ void take(const unsigned *Cells, unsigned *Out) {
  Out[threadIdx.x] = Cells[Threads - 1 - threadIdx.x]; // RACE
}

int main() {
  cudaStream_t Maker = makeStream(), Taker = makeStream();
  unsigned *Cells = zeroed<unsigned>(Threads), *Out = zeroed<unsigned>(Threads);
  volatile Mapped *Host;
  CHECK(cudaHostAlloc((void **)&Host, sizeof(Mapped), cudaHostAllocMapped));
  // The first launches load the kernels, which may wait for what is running.
  Host->MayEnd = 1;
  make<<<1, Threads, 0, Maker>>>(Cells, Host);
  take<<<1, Threads, 0, Maker>>>(Cells, Out);
  CHECK(cudaDeviceSynchronize());
  Host->IsThere = Host->MayEnd = 0;
  make<<<1, Threads, 0, Maker>>>(Cells, Host);
  while (Host->IsThere == 0)
    if (cudaStreamQuery(Maker) != cudaErrorNotReady)
      break; // Ended: something went wrong.
  take<<<1, Threads, 0, Taker>>>(Cells, Out);
  CHECK(cudaStreamSynchronize(Taker));
  Host->MayEnd = 1;
  CHECK(cudaDeviceSynchronize());
  cudaGetLastError(); // "Not ready" is one.
  return finish(matches(Out, Threads, [](size_t T) { return unsigned(Threads - T); }));
}
