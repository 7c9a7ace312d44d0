// Intent: a block brings parts of a row by bulk copies, changes them in place and stores them
// by bulk copies, with two buffers. Neither the next load behind the store's reads nor what
// threads read behind a load needs a fence between proxies; the store of what they have
// written does, which the racy twin lacks.
// FIXED: fixed
// RACY: no-fence -DNO_FENCE
// UNSEEN: collider: what a fence between proxies changes is not seen in values
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 64, Blocks = 2, Buffers = 2;
CONSTANT Scaled<64, 8> Parts;

__device__ __forceinline__ void begin(unsigned *To, const unsigned *From, uint64_t *Full) {
  expect(Full, Threads * sizeof(unsigned));
  BULK_LOAD(To, From, Threads * sizeof(unsigned), Full);
}

__global__ void square(const unsigned *In, unsigned *Out) {
  __shared__ alignas(128) unsigned Buffer[Buffers][Threads];
  __shared__ uint64_t Full[Buffers];
  const unsigned T = threadIdx.x, First = blockIdx.x * Parts * Threads;
  if (T < Buffers)
    initBarrier(&Full[T], 1);
  __syncthreads();
  if (T == 0)
    begin(Buffer[0], In + First, &Full[0]);
  for (unsigned P = 0; P < Parts; ++P) {
    unsigned *Here = Buffer[P % Buffers];
    wait(&Full[P % Buffers], P / Buffers % 2);
    const unsigned Value = Here[T];
    Here[T] = Value * Value; // RACE
#ifndef NO_FENCE
    fenceForCopies();
#endif
    __syncthreads();
    if (T == 0) {
      BULK_STORE(Out + First + P * Threads, Here, Threads * sizeof(unsigned)); // RACE
      commitBulk();
      // The other buffer has been read.
      awaitBulkReads<1>();
      if (P + 1 < Parts)
        begin(Buffer[(P + 1) % Buffers], In + First + (P + 1) * Threads,
              &Full[(P + 1) % Buffers]);
    }
  }
  if (T == 0)
    awaitBulk();
}

int main() {
  const unsigned N = Blocks * Parts * Threads;
  std::vector<unsigned> In;
  for (unsigned I = 0; I < N; ++I)
    In.push_back(I % 91);
  unsigned *Out = zeroed<unsigned>(N);
  square<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, N, [&](size_t I) { return In[I] * In[I]; }));
}
