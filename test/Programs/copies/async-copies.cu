// Intent: asynchronous copies (cp.async) into shared memory are waited for by the
// thread that issued them, and then handed on by a barrier.
// FIXED: two-stages -DSTAGES=2
// FIXED: three-stages -DSTAGES=3
// FIXED: four-stages -DSTAGES=4
// FIXED: six-stages -DSTAGES=6
// FIXED: assembly -DSTAGES=3 -DASSEMBLY
// FIXED: predicated -DSTAGES=3 -DASSEMBLY -DPREDICATED
// FIXED: partial -DSTAGES=2 -DASSEMBLY -DPARTIAL
// FIXED: ignored -DSTAGES=2 -DASSEMBLY -DIGNORED
// FIXED: in-branches -DSTAGES=3 -DWAIT=branched
// FIXED: in-function -DSTAGES=3 -DWAIT=apart
// FIXED: own -DOWN
// FIXED: mbarrier -DMBARRIER
// RACY: no-wait -DSTAGES=2 -DWAIT=nothing
// RACY: no-wait-three -DSTAGES=3 -DWAIT=nothing
// RACY: late-wait -DSTAGES=2 -DLATE
// RACY: late-wait-three -DSTAGES=3 -DLATE -DASSEMBLY
// RACY: one-too-few -DSTAGES=2 -DKEEP=1
// RACY: one-too-few-three -DSTAGES=3 -DKEEP=2
// RACY: one-too-few-four -DSTAGES=4 -DKEEP=3 -DASSEMBLY -DPREDICATED
// RACY: no-commit -DSTAGES=2 -DASSEMBLY -DNO_COMMIT
// RACY: skipped-wait -DSTAGES=3 -DWAIT=forgetful
// RACY: no-barrier -DSTAGES=2 -DNO_BARRIER
// RACY: too-early -DSTAGES=3 -DAHEAD=0
// RACY: own-no-wait -DOWN -DWAIT=nothing
// RACY: own-written -DOWN -DWRITES -DWAIT=nothing
// RACY: copied-twice -DOWN -DTWICE
// RACY: partial-no-wait -DSTAGES=2 -DASSEMBLY -DPARTIAL -DWAIT=nothing
// RACY: ignored-no-wait -DSTAGES=2 -DASSEMBLY -DIGNORED -DWAIT=nothing
// RACY: mbarrier-no-wait -DMBARRIER -DNO_WAIT
// UNSEEN: collider (copied-twice skipped-wait): no value changes while a check looks at it
#include "../check.h"
#include <cuda_pipeline.h>

#ifndef STAGES
#define STAGES 2
#endif
#ifndef KEEP
#define KEEP (STAGES - 2)
#endif
#ifndef AHEAD
#define AHEAD (STAGES - 1)
#endif
#ifndef WAIT
#define WAIT simple
#endif

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<200, 12> Rounds;

/// Copies 16 bytes; or, by every other thread, less, and zeros.
__device__ __forceinline__ void copy(int4 *To, const int4 *From) {
#if defined(ASSEMBLY)
  const unsigned At = unsigned(__cvta_generic_to_shared(To));
#if defined(PREDICATED)
  asm volatile( // RACE
      "{ .reg .pred p; setp.ne.b32 p, %0, 0;\n"
      "@p cp.async.cg.shared.global.L2::128B [%1], [%2], 16;\n"
      "@!p cp.async.ca.shared.global [%1], [%2], 8;\n"
      "@!p cp.async.ca.shared.global [%1+8], [%2+8], 8; }" ::"r"(threadIdx.x %
                                                                 3),
      "r"(At), "l"(From)
      : "memory");
#elif defined(PARTIAL)
  asm volatile( // RACE
      "cp.async.cg.shared.global [%0], [%1], %2, %3;" ::"r"(At), "l"(From),
      "n"(16), "r"(threadIdx.x % 2 ? 16 : 4)
      : "memory");
#elif defined(IGNORED)
  asm volatile( // RACE
      "{ .reg .pred p; setp.eq.u32 p, %0, 0;\n"
      "cp.async.cg.shared.global [%1], [%2], 16, p; }" ::"r"(threadIdx.x % 2),
      "r"(At), "l"(From)
      : "memory");
#else
  asm volatile( // RACE
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(At), "l"(From)
      : "memory");
#endif
#else
  __pipeline_memcpy_async(To, From, sizeof(int4)); // RACE
#endif
}

__device__ __forceinline__ void commit() {
#ifndef NO_COMMIT
  __pipeline_commit();
#endif
}

template <unsigned Groups> __device__ __forceinline__ void nothing() {}
template <unsigned Groups> __device__ __forceinline__ void simple() {
#ifdef ASSEMBLY
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#else
  __pipeline_wait_prior(Groups);
#endif
}
template <unsigned Groups> __device__ __noinline__ void apart() {
  simple<Groups>();
}
/// Whoever is of the second half waits for more than it must.
template <unsigned Groups> __device__ __forceinline__ void branched() {
  if (threadIdx.x < 40)
    simple<Groups>();
  else
    asm volatile("cp.async.wait_all;" ::: "memory");
}
template <unsigned Groups> __device__ __forceinline__ void forgetful() {
  if (threadIdx.x != 37)
    simple<Groups>();
}

/// Each thread copies a row ahead of the others' reads.
__global__ void pass(const int4 *In, int *Out) {
  __shared__ int4 Rows[STAGES][Threads];
  const unsigned T = threadIdx.x, I = blockIdx.x * Threads + T;
  int Sum = 0;
  for (unsigned S = 0; S + 1 < STAGES; ++S) {
    copy(&Rows[S][T], &In[I]);
    commit();
  }
  for (unsigned R = 0; R < Rounds; ++R) {
#ifndef LATE
    WAIT<KEEP>();
#endif
#ifndef NO_BARRIER
    __syncthreads();
#endif
#ifdef LATE
    WAIT<KEEP>();
#endif
#if STAGES == 2
    const int4 Row = Rows[R % STAGES][(T + 31) % Threads]; // RACE
    Sum += Row.x + Row.w;
    __syncthreads();
#endif
    copy(&Rows[(R + AHEAD) % STAGES][T], &In[I]);
    commit();
#if STAGES > 2
    const int4 Row = Rows[R % STAGES][(T + 31) % Threads]; // RACE
    Sum += Row.x + Row.w;
#endif
  }
  Out[I] = Sum;
}

/// A thread keeps its row to itself.
__global__ void keep(const int4 *In, int *Out) {
  __shared__ int4 Rows[Threads];
  const unsigned T = threadIdx.x, I = blockIdx.x * Threads + T;
  int Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    copy(&Rows[T], &In[I]);
#ifdef TWICE
    copy(&Rows[T], &In[(I + 1) % N]);
#endif
    commit();
    WAIT<0>();
#ifdef WRITES
    Rows[T].x = 5; // RACE
#else
    Sum += Rows[T].x + Rows[T].w; // RACE
#endif
#if defined(WRITES) || defined(TWICE)
    __pipeline_wait_prior(0);
#endif
  }
  Out[I] = Sum;
}

/// An mbarrier's phase ends once all threads' copies have.
__global__ void arrive(const int4 *In, int *Out) {
  __shared__ int4 Rows[Threads];
  __shared__ unsigned long long Barrier;
  const unsigned At = unsigned(__cvta_generic_to_shared(&Barrier));
  const unsigned T = threadIdx.x, I = blockIdx.x * Threads + T;
  int Sum = 0;
  if (T == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(At), "n"(Threads)
                 : "memory");
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
    copy(&Rows[T], &In[I]);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(At)
                 : "memory");
#ifndef NO_WAIT
    asm volatile(
        "{ .reg .pred P;\n"
        "Wait: mbarrier.try_wait.parity.shared.b64 P, [%0], %1;\n"
        "@P bra Done;\n"
        "bra Wait;\n"
        "Done: }" ::"r"(At),
        "r"(R & 1)
        : "memory");
#endif
    const int4 Row = Rows[(T + 31) % Threads]; // RACE
    Sum += Row.x + Row.w;
    __syncthreads();
  }
  Out[I] = Sum;
}

int main() {
  std::vector<int4> Values(N, int4{5, 0, 0, 2});
  int4 *In = upload(Values);
  int *Out = zeroed<int>(N);
#if defined(MBARRIER)
  arrive<<<Blocks, Threads>>>(In, Out);
#elif defined(OWN)
  keep<<<Blocks, Threads>>>(In, Out);
#else
  pass<<<Blocks, Threads>>>(In, Out);
#endif
  return finish(matches(Out, N, [](size_t I) {
    // Who copied the row that this one reads.
    const unsigned From = (I % Threads + 31) % Threads;
#if defined(PARTIAL)
    return int(Rounds * (From % 2 ? 7 : 5));
#elif defined(IGNORED)
    return int(Rounds * (From % 2 ? 7 : 0));
#else
    return int(Rounds * 7) + int(From * 0);
#endif
  }));
}
