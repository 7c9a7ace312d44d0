// Intent: threads of a block may come to a __syncthreads() in loops of which the compiler does not know that all
// threads run alike: the flag that decides is loaded, warps have left, or work is handed out through memory.
// CLEAN-ONLY
// FIXED: flag -DFLAG
// FIXED: block -DBLOCK
// FIXED: broadcast -DBROADCAST
// FIXED: left -DLEFT
// FIXED: leaving -DLEAVING
// FIXED: persistent -DPERSISTENT
// FIXED: spin -DSPIN
// FIXED: nested -DNESTED
// FIXED: peeled -DPEELED
// FIXED: retry -DRETRY
// FIXED: strided -DSTRIDED
// FIXED: called -DCALLED
// FIXED: trips -DTRIPS
// ALSO: -O3
// ALSO: -O1
// ALSO: -O0
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 20, Rounds = 12;

__device__ unsigned Next, Ready[Blocks];

/// One lane asks for its warp.
__device__ unsigned poll() {
  __syncwarp();
  return __shfl_sync(~0u, atomicAdd(&Ready[blockIdx.x], 0), 0);
}

__device__ __noinline__ void meetTwice(unsigned *Mine) {
  for (unsigned I = 0; I < 2; ++I) {
    *Mine += 1;
    __syncthreads();
  }
}

__global__ void work(unsigned *Out, const unsigned *Flags, unsigned N) {
  const unsigned At = blockIdx.x * Threads + threadIdx.x, Warp = threadIdx.x / 32;
  __shared__ unsigned Told;
  (void)Warp;
#if defined(FLAG)
  for (unsigned I = 0; I < N; ++I)
    if (Flags[I]) {
      Out[At] += 1;
      __syncthreads();
    }
#elif defined(BLOCK)
  for (unsigned I = 0; I < N; ++I)
    if ((blockIdx.x + I) % 2) {
      Out[At] += 2;
      __syncthreads();
    }
#elif defined(BROADCAST)
  if (threadIdx.x == 0)
    Told = Flags[blockIdx.x % N] + N;
  __syncthreads();
  const unsigned Mine = Told;
  for (unsigned I = 0; I < Mine; ++I) {
    Out[At] += Mine == N ? 1 : 0;
    if (Mine > I + 1)
      __syncthreads();
  }
  Out[At] = N;
#elif defined(LEFT)
  Out[At] = N;
  if (Warp >= 2)
    return;
  for (unsigned I = 0; I < N; ++I)
    if (Flags[I]) {
      Out[At] += I - I;
      __syncthreads();
    }
#elif defined(LEAVING)
  // Warps leave one after the other.
  for (unsigned I = 0; I < N; ++I) {
    Out[At] = N;
    if (I / 2 == Warp)
      return;
    __syncthreads();
  }
#elif defined(PERSISTENT)
  for (;;) {
    if (threadIdx.x == 0)
      Told = atomicAdd(&Next, 1);
    __syncthreads();
    const unsigned Block = Told;
    __syncthreads();
    if (Block >= Blocks)
      break;
    for (unsigned I = 0; I < N; ++I) {
      Out[Block * Threads + threadIdx.x] += 1;
      __syncthreads();
    }
  }
#elif defined(SPIN)
  // How often a thread has polled when it comes to the barrier does not matter.
  for (unsigned I = 0; I < N; ++I) {
    if (threadIdx.x == 0)
      atomicExch(&Ready[blockIdx.x], I + 1);
    for (;;)
      if (poll() > I) {
        __syncthreads();
        Out[At] += 1;
        break;
      }
  }
#elif defined(NESTED)
  // Each warp parts its rounds in another way.
  unsigned Done = 0;
  for (;;) {
    for (;;) {
      Out[At] += 1;
      __syncthreads();
      if (++Done % (Warp + 1) == 0 || Done == N)
        break;
    }
    if (Done == N)
      break;
  }
#elif defined(PEELED)
  for (unsigned I = 0; I < N; ++I) {
    if (I == 0)
      Out[At] = 0;
    Out[At] += 1;
    if (I > 0 || Flags[0] <= 1)
      __syncthreads();
  }
#elif defined(RETRY)
  for (unsigned I = 0; I < N; ++I) {
    if (threadIdx.x == 0)
      atomicExch(&Ready[blockIdx.x], I + 1);
    for (unsigned Try = 0; Try < 1u << 30; ++Try)
      if (poll() > I) {
        __syncthreads();
        Out[At] += 1;
        break;
      }
  }
#elif defined(STRIDED)
  // All threads have as many rounds, from other starts.
  for (unsigned I = threadIdx.x; I < N * Threads; I += Threads) {
    Out[At] += 1;
    if (Flags[I / Threads])
      __syncthreads();
  }
#elif defined(TRIPS)
  // Threads that have ended need not come.
  Out[At] = N;
  for (unsigned I = 0; I < N - Warp; ++I)
    if (Flags[I])
      __syncthreads();
#elif defined(CALLED)
  for (unsigned I = 0; I < N / 2; ++I)
    if (Warp % 2)
      meetTwice(Out + At);
    else
      meetTwice(Out + At);
#endif
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  std::vector<unsigned> Given(Rounds);
  for (unsigned I = 0; I < Rounds; ++I)
    Given[I] = I % 3 != 0;
  unsigned *Flags = upload(Given);
  work<<<Blocks, Threads>>>(Out, Flags, Rounds);
#ifdef FLAG
  constexpr unsigned Expected = 8;
#else
  constexpr unsigned Expected = Rounds;
#endif
  return finish(
      matches(Out, Blocks * Threads, [](size_t) { return Expected; }));
}
