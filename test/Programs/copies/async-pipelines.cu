// Intent: the libraries' asynchronous copies: pipelines of a thread and of a block,
// copies that arrive at a barrier, and those of cooperative groups.
// FIXED: thread -DTHREAD
// FIXED: thread-stages -DTHREAD -DSTAGES=4
// FIXED: block -DBLOCK
// FIXED: block-stages -DBLOCK -DSTAGES=3
// FIXED: barrier -DBARRIER
// FIXED: group -DGROUP
// FIXED: group-prior -DGROUP -DPRIOR
// RACY: thread-no-wait -DTHREAD -DNO_WAIT
// RACY: thread-late-wait -DTHREAD -DLATE_WAIT
// RACY: thread-no-barrier -DTHREAD -DNO_BARRIER
// RACY: thread-stages-no-wait -DTHREAD -DSTAGES=4 -DNO_WAIT
// RACY: block-no-wait -DBLOCK -DNO_WAIT
// RACY: block-late-read -DBLOCK -DLATE_READ
// RACY: barrier-late-wait -DBARRIER -DNO_WAIT
// RACY: group-no-wait -DGROUP -DNO_WAIT
// RACY: group-prior-no-wait -DGROUP -DPRIOR -DNO_WAIT
// UNSEEN: collider (block-late-read): no value changes while a check looks at it
#include "../check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

#ifndef STAGES
#define STAGES 2
#endif

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;
CONSTANT Scaled<100, 8> Rounds;

__device__ __forceinline__ int use(const int4 &Row) {
  return Row.x + Row.w; // RACE
}

/// Begins the copies of as many rounds as there are stages, `R` the first of them.
template <typename Pipeline>
__device__ __forceinline__ void fill(Pipeline &Pipe, int4 (*Rows)[Threads],
                                     unsigned &Next, unsigned R,
                                     const int4 *From) {
  for (; Next < R + STAGES && Next < Rounds; ++Next) {
    Pipe.producer_acquire();
    cuda::memcpy_async(&Rows[Next % STAGES][threadIdx.x], From, // RACE: thread-* block-*
                       cuda::aligned_size_t<16>(16), Pipe);
    Pipe.producer_commit();
  }
}

#if defined(THREAD)
__global__ void pass(const int4 *In, int *Out) {
  __shared__ int4 Rows[STAGES][Threads];
  const unsigned T = threadIdx.x, I = blockIdx.x * Threads + T;
  auto Pipe = cuda::make_pipeline();
  int Sum = 0;
  unsigned Next = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    fill(Pipe, Rows, Next, R, &In[I]);
#if !defined(NO_WAIT) && !defined(LATE_WAIT)
    // As many may go on as have been begun since.
    if (Next - R == STAGES)
      cuda::pipeline_consumer_wait_prior<STAGES - 1>(Pipe);
    else
      cuda::pipeline_consumer_wait_prior<0>(Pipe);
#endif
#ifndef NO_BARRIER
    __syncthreads();
#endif
#ifdef LATE_WAIT
    cuda::pipeline_consumer_wait_prior<0>(Pipe);
#endif
    Sum += use(Rows[R % STAGES][(T + 31) % Threads]);
    __syncthreads();
    Pipe.consumer_release();
  }
  Out[I] = Sum;
}
#elif defined(BLOCK)
__global__ void pass(const int4 *In, int *Out) {
  __shared__ int4 Rows[STAGES][Threads];
  using Shared = cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES>;
  __shared__ alignas(Shared) char State[sizeof(Shared)];
  auto Block = cg::this_thread_block();
  auto Pipe = cuda::make_pipeline(Block, reinterpret_cast<Shared *>(State));
  const unsigned T = threadIdx.x, I = blockIdx.x * Threads + T;
  int Sum = 0;
  unsigned Next = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    fill(Pipe, Rows, Next, R, &In[I]);
#ifndef NO_WAIT
    Pipe.consumer_wait();
#endif
    Sum += use(Rows[R % STAGES][(T + 31) % Threads]);
    Pipe.consumer_release();
#ifdef LATE_READ
    Sum += use(Rows[R % STAGES][(T + 32) % Threads]);
#endif
  }
  Out[I] = Sum;
}
#elif defined(BARRIER)
__global__ void pass(const int4 *In, int *Out) {
  __shared__ int4 Rows[Threads];
  using Shared = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Shared) char State[sizeof(Shared)];
  Shared &Barrier = *reinterpret_cast<Shared *>(State);
  const unsigned T = threadIdx.x, I = blockIdx.x * Threads + T;
  if (T == 0)
    init(&Barrier, Threads);
  __syncthreads();
  int Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    // Of less alignment: else it would be a bulk copy.
    cuda::memcpy_async((void *)&Rows[T], (const void *)&In[I], // RACE
                       cuda::aligned_size_t<8>(16), Barrier);
    auto Token = Barrier.arrive();
#ifndef NO_WAIT
    Barrier.wait(std::move(Token));
    Sum += use(Rows[(T + 31) % Threads]);
#else
    Sum += use(Rows[(T + 31) % Threads]);
    Barrier.wait(std::move(Token));
#endif
    __syncthreads();
  }
  Out[I] = Sum;
}
#elif defined(GROUP)
__device__ __forceinline__ void copy(const cg::thread_block &Block, int4 *To,
                                     const int4 *From) {
  constexpr cuda::aligned_size_t<16> Bytes(Threads * sizeof(int4));
  cg::memcpy_async(Block, To, From, Bytes); // RACE
}

__global__ void pass(const int4 *In, int *Out) {
  __shared__ int4 Rows[2][Threads];
  auto Block = cg::this_thread_block();
  const unsigned T = threadIdx.x, I = blockIdx.x * Threads + T;
  const int4 *Mine = In + blockIdx.x * Threads;
  int Sum = 0;
#ifdef PRIOR
  copy(Block, Rows[0], Mine);
#endif
  for (unsigned R = 0; R < Rounds; ++R) {
#ifdef PRIOR
    copy(Block, Rows[(R + 1) % 2], Mine);
#ifndef NO_WAIT
    cg::wait_prior<1>(Block);
#else
    Block.sync();
#endif
    Sum += use(Rows[R % 2][(T + 31) % Threads]);
#else
    copy(Block, Rows[0], Mine);
#ifndef NO_WAIT
    cg::wait(Block);
#else
    Block.sync();
#endif
    Sum += use(Rows[0][(T + 31) % Threads]);
#endif
    Block.sync();
  }
  Out[I] = Sum;
}
#endif

int main() {
  std::vector<int4> Values(N, int4{5, 0, 0, 2});
  int4 *In = upload(Values);
  int *Out = zeroed<int>(N);
  pass<<<Blocks, Threads>>>(In, Out);
  return finish(matches(Out, N, [](size_t) { return int(Rounds * 7); }));
}
