// Intent: the host starts a kernel because another one, which goes on running,
// has told it by a flag that there is something to read.
// FIXED: leader
// FIXED: everybody -DEVERYBODY
// FIXED: chain -DCHAIN
// FIXED: forwarded-flag -DFORWARDED
// FIXED: packed -DPACKED
// RACY: too-early -DTOO_EARLY
// RACY: no-fence -DFENCE=nothing
// RACY: block-fence -DFENCE=__threadfence_block
// RACY: copied-flag -DCOPIED
// UNSEEN: collider (block-fence copied-flag no-fence): no value changes while a check looks at it
// UNSEEN: metadata (copied-flag): no copy is checked while a kernel may wait for it
#include "../check.h"

#ifndef FENCE
#define FENCE __threadfence_system
#endif

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;

/// A fence that is missing.
__device__ inline void nothing() {}

#ifdef PACKED
#define ODD __attribute__((packed))
#else
#define ODD
#endif

struct ODD Flags {
#ifdef PACKED
  char Before;
#endif
  unsigned *Told;          ///< How many have told the host.
  volatile unsigned *Stop; ///< Written by the host.
  unsigned *Done;          ///< Blocks that have told block 0.
};

__device__ void tell(Flags F) {
#ifdef EVERYBODY
  FENCE();
  atomicAdd_system(F.Told, 1);
#else
  __syncthreads();
  if (threadIdx.x != 0)
    return;
#ifdef CHAIN
  __threadfence();
  atomicAdd(F.Done, 1);
  if (blockIdx.x != 0)
    return;
  while (*(volatile unsigned *)F.Done < gridDim.x)
    ;
#endif
  FENCE();
  atomicAdd_system(F.Told, 1); // RACE: copied-flag
#endif
}

#if defined(EVERYBODY)
constexpr unsigned Tellers = N;
#elif defined(CHAIN)
constexpr unsigned Tellers = 1;
#else
constexpr unsigned Tellers = Blocks;
#endif

__global__ void produce(unsigned *Cells, Flags F) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
#ifdef TOO_EARLY
  tell(F);
#endif
  Cells[I] = I + 1; // RACE
#ifndef TOO_EARLY
  tell(F);
#endif
  if (threadIdx.x == 0)
    while (*F.Stop == 0)
      ;
  __syncthreads();
}

__global__ void consume(const unsigned *Cells, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Out[I] = Cells[(I + Threads) % N]; // RACE
}

/// Reads the flag, in memory that the host does not see, and tells the host.
__global__ void forward(const unsigned *Told, unsigned *Host) {
  const unsigned Seen = *(const volatile unsigned *)Told;
  __threadfence_system();
  *(volatile unsigned *)Host = Seen;
}

static cudaStream_t makeStream() {
  cudaStream_t Stream;
  CHECK(cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking));
  return Stream;
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  cudaStream_t Producer = makeStream(), Consumer = makeStream();
  volatile unsigned *Host;
  CHECK(cudaMallocHost((void **)&Host, 2 * sizeof(unsigned)));
  Host[0] = 0;
  Host[1] = 1;
  Flags F{};
  F.Told = (unsigned *)&Host[0];
  F.Stop = &Host[1];
  F.Done = zeroed<unsigned>(1);
#if defined(COPIED) || defined(FORWARDED)
  F.Told = zeroed<unsigned>(1);
#endif
  // A first launch loads the kernel, which may wait for what is running.
  consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out);
#ifdef FORWARDED
  forward<<<1, 1, 0, Consumer>>>(F.Told, (unsigned *)&Host[0]);
#endif
  CHECK(cudaDeviceSynchronize());
  Host[1] = 0;
  produce<<<Blocks, Threads, 0, Producer>>>(Cells, F);
  do {
    if (cudaStreamQuery(Producer) != cudaErrorNotReady)
      return 1;
#if defined(FORWARDED)
    forward<<<1, 1, 0, Consumer>>>(F.Told, (unsigned *)&Host[0]);
    CHECK(cudaStreamSynchronize(Consumer));
#elif defined(COPIED)
    // A copy is no strong access: it races with those of the kernel.
    CHECK(cudaMemcpyAsync((void *)&Host[0], F.Told, sizeof(unsigned), // RACE: copied-flag
                          cudaMemcpyDeviceToHost, Consumer));
    CHECK(cudaStreamSynchronize(Consumer));
#endif
  } while (Host[0] < Tellers);
  cudaGetLastError(); // "Not ready" is one.
  consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out);
  CHECK(cudaStreamSynchronize(Consumer));
  Host[1] = 1;
  return finish(
      matches(Out, N, [](size_t I) { return unsigned((I + Threads) % N + 1); }));
}
