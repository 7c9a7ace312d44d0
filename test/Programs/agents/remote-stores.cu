// Intent: the blocks of a cluster send their cells to the next block by asynchronous stores
// and add to its sums by asynchronous reductions (st.async, red.async), which complete at
// an mbarrier of that block. The racy twins read before the wait, or send before the
// receiver has read.
// FIXED: fixed
// RACY: read-too-early -DREAD_EARLY
// RACY: sent-too-early -DSEND_EARLY
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 64, Cluster = 2, Blocks = 4;
constexpr unsigned Pairs = Threads / 2, Summands = 4;
CONSTANT Scaled<64, 8> Rounds;

/// Four bytes for a cell of another block, whose mbarrier gets them.
#define STORE_ASYNC(To, Value, Barrier)                                        \
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 "    \
               "[%0], %1, [%2];" ::"r"(To),                                    \
               "r"(Value), "r"(Barrier)                                        \
               : "memory")
#define ADD_ASYNC(To, Value, Barrier)                                          \
  asm volatile("red.async.relaxed.cluster.shared::cluster"                     \
               ".mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(  \
                   To),                                                        \
               "r"(Value), "r"(Barrier)                                        \
               : "memory")

__global__ void ring(unsigned *Out) {
  __shared__ unsigned Cells[Threads], Sums[Pairs];
  __shared__ uint64_t Full;
  const unsigned T = threadIdx.x, Rank = clusterRank(), Next = (Rank + 1) % Cluster;
  const unsigned Cell = remoteShared(&Cells[Threads - 1 - T], Next);
  const unsigned Sum = remoteShared(&Sums[T / 2], Next);
  const unsigned Done = remoteShared(&Full, Next);
  unsigned Value = blockIdx.x * Threads + T, Total = 0;
  Cells[T] = 0;
  if (T < Pairs)
    Sums[T] = 0;
  if (T == 0)
    initBarrier(&Full, 1);
  fenceForCopies();
  clusterSync();
  for (unsigned R = 0; R < Rounds; ++R) {
    if (T == 0)
      expect(&Full, 2 * sizeof Cells);
    STORE_ASYNC(Cell, Value, Done);   // RACE
    ADD_ASYNC(Sum, Value % 16, Done); // RACE
#ifndef READ_EARLY
    waitForCluster(&Full, R % 2);
#endif
#ifdef SEND_EARLY
    clusterSync();
#endif
    Value = Cells[T] + 1; // RACE
#pragma unroll 1
    for (unsigned I = 0; I < Summands; ++I)
      Total += Sums[(T + I) % Pairs]; // RACE
#ifdef READ_EARLY
    waitForCluster(&Full, R % 2);
#endif
#ifndef SEND_EARLY
    clusterSync();
#endif
  }
  clusterSync();
  Out[blockIdx.x * Threads + T] = Value + Total;
}

int main() {
  constexpr unsigned N = Blocks * Threads;
  std::vector<unsigned> Value(N), Total(N);
  std::vector<unsigned> Sums(N / 2); ///< Of what pairs of threads have sent.
  for (unsigned I = 0; I < N; ++I)
    Value[I] = I;
  for (unsigned R = 0; R < Rounds; ++R) {
    const std::vector<unsigned> Before = Value;
    for (unsigned I = 0; I < N; ++I)
      Sums[I / 2] += Before[I] % 16;
    for (unsigned I = 0; I < N; ++I) {
      const unsigned From = (I / Threads ^ 1) * Threads, T = I % Threads;
      Value[I] = Before[From + Threads - 1 - T] + 1;
      for (unsigned J = 0; J < Summands; ++J)
        Total[I] += Sums[From / 2 + (T + J) % Pairs];
    }
  }
  unsigned *Out = zeroed<unsigned>(N);
  launchClusters(ring, Cluster, Blocks, Threads, Out);
  return finish(matches(Out, N, [&](size_t I) { return Value[I] + Total[I]; }));
}
