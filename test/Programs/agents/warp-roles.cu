// Intent: the warps of a block have roles. One brings rows by bulk copies, two work on
// them, one stores the results by bulk copies. mbarriers say which rows are full and
// empty, named barriers which results. The racy twins' workers free a row before they have
// read it, or overwrite results that are still being stored.
// FIXED: fixed
// RACY: freed-too-early -DFREE_EARLY
// RACY: results-overwritten -DNO_WAIT
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Warp = 32, Workers = 2 * Warp, Threads = 4 * Warp;
constexpr unsigned Stages = 3, Summands = 4, Blocks = 2;
CONSTANT Scaled<64, 8> Rounds;

struct Pipeline {
  alignas(128) unsigned Rows[Stages][Workers];
  alignas(128) unsigned Results[Workers];
  uint64_t Full[Stages], Empty[Stages];
};

/// The workers and the storing warp.
enum Named { ResultsReady = 1, ResultsFree = 2 };
__device__ __forceinline__ void meet(Named Barrier) {
  asm volatile("barrier.sync %0, %1;" ::"r"(unsigned(Barrier)), "r"(Workers + Warp)
               : "memory");
}

__device__ __forceinline__ void bring(Pipeline &P, const unsigned *In) {
  for (unsigned R = 0; R < Rounds; ++R) {
    const unsigned S = R % Stages, Turn = R / Stages;
    if (Turn > 0)
      wait(&P.Empty[S], (Turn - 1) % 2);
    if (threadIdx.x == 0) {
      fenceForCopies();
      expect(&P.Full[S], sizeof P.Rows[S]);
      BULK_LOAD(P.Rows[S], In + R * Workers, // RACE: freed-too-early
                sizeof P.Rows[S], &P.Full[S]);
    }
    __syncwarp();
  }
}

__device__ __forceinline__ void work(Pipeline &P, unsigned T) {
  for (unsigned R = 0; R < Rounds; ++R) {
    const unsigned S = R % Stages;
    wait(&P.Full[S], R / Stages % 2);
#ifdef FREE_EARLY
    arrive(&P.Empty[S]);
#endif
    unsigned Value = 0;
#pragma unroll 1
    for (unsigned I = 1; I <= Summands; ++I)
      Value += P.Rows[S][(T + I) % Workers]; // RACE: freed-too-early
#ifndef FREE_EARLY
    arrive(&P.Empty[S]);
#endif
    meet(ResultsFree);
    P.Results[T] = Value + R; // RACE: results-overwritten
    fenceForCopies();
    meet(ResultsReady);
  }
}

__device__ __forceinline__ void store(Pipeline &P, unsigned *Out) {
  for (unsigned R = 0; R < Rounds; ++R) {
    meet(ResultsFree);
    meet(ResultsReady);
    if (threadIdx.x % Warp == 0) {
      BULK_STORE(Out + R * Workers, P.Results, // RACE: results-overwritten
                 sizeof P.Results);
      commitBulk();
#ifndef NO_WAIT
      awaitBulkReads();
#endif
    }
    __syncwarp();
  }
  awaitBulkReads();
}

__global__ void run(const unsigned *In, unsigned *Out) {
  __shared__ Pipeline P;
  const unsigned T = threadIdx.x;
  if (T < Stages) {
    initBarrier(&P.Full[T], 1);
    initBarrier(&P.Empty[T], Workers);
  }
  __syncthreads();
  if (T < Warp)
    bring(P, In);
  else if (T < Warp + Workers)
    work(P, T - Warp);
  else
    store(P, Out + blockIdx.x * Rounds * Workers);
}

int main() {
  const unsigned N = Rounds * Workers;
  std::vector<unsigned> In;
  for (unsigned I = 0; I < N; ++I)
    In.push_back(I + 1);
  unsigned *Out = zeroed<unsigned>(Blocks * N);
  run<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, Blocks * N, [&](size_t I) {
    const unsigned R = I % N / Workers;
    unsigned Want = R;
    for (unsigned J = 1; J <= Summands; ++J)
      Want += In[R * Workers + (I + J) % Workers];
    return Want;
  }));
}
