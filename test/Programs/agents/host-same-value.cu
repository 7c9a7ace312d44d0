// Intent: the CPU stores what is there already while a kernel reads, or reads what a kernel stores again: no value
// changes. The fixed twins' CPU waits for the kernel.
// RACY: host-stores
// RACY: host-reads -DREADS
// RACY: straddling -DSTRADDLING
// FIXED: host-stores-fixed
// FIXED: straddling-fixed -DSTRADDLING
// FIXED: host-reads-fixed -DREADS
// BUILD: -fsanitize-cuda-race-host
#include "agents.h"

constexpr unsigned Threads = 32;

#ifdef STRADDLING
/// Half of it lies in one aligned 8 bytes, and half in the next.
struct __attribute__((packed)) Straddler {
  char Front[6];
  int Value;
  char Behind[6];
};
#endif
CONSTANT Scaled<20000, 100> Rounds;

#ifdef STRADDLING
__global__ void work(unsigned *Cells, unsigned *Sums, unsigned Rounds) {
  for (unsigned R = 0; R < Rounds; ++R) {
    Sums[threadIdx.x] += reinterpret_cast<char *>(Cells)[8]; // RACE: straddling
    __syncthreads();
  }
}
#elif defined(READS)
__global__ void work(unsigned *Cells, unsigned *, unsigned Rounds) {
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[threadIdx.x] = 1; // RACE: host-reads
    __syncthreads();
  }
}
#else
__global__ void work(unsigned *Cells, unsigned *Sums, unsigned Rounds) {
  for (unsigned R = 0; R < Rounds; ++R) {
    Sums[threadIdx.x] += Cells[threadIdx.x]; // RACE: host-stores
    __syncthreads();
  }
}
#endif

/// The CPU's part. Returns a sum that no race can change.
static unsigned use(unsigned *Cells) {
  unsigned Sum = 0;
  for (unsigned I = 0; I < Threads; ++I) {
#ifdef STRADDLING
    reinterpret_cast<Straddler *>(Cells)->Value = 1; // RACE: straddling
    asm volatile("" ::: "memory"); // Each time.
    Sum += 1;
#elif defined(READS)
    Sum += Cells[I]; // RACE: host-reads
#else
    Cells[I] = 1; // RACE: host-stores
    Sum += 1;
#endif
  }
  return Sum;
}

int main() {
  if (const char *Why = lacksConcurrentAccess())
    return skip(Why);
  unsigned *Cells = shared<unsigned>(Threads), *Sums = zeroed<unsigned>(Threads);
  for (unsigned I = 0; I < Threads; ++I)
    Cells[I] = 1;
  cudaStream_t Worker = makeStream();
  work<<<1, Threads, 0, Worker>>>(Cells, Sums, 0); // Loads the kernel.
  CHECK(cudaDeviceSynchronize());
  work<<<1, Threads, 0, Worker>>>(Cells, Sums, Rounds);
  unsigned Sum = Threads;
#ifdef RACY
  while (isRunning(Worker))
    Sum = use(Cells);
#endif
  CHECK(cudaDeviceSynchronize());
#ifndef RACY
  Sum = use(Cells);
#endif
  return finish(Sum == Threads);
}
