// Intent: the blocks of a cluster send their cells to the next block by asynchronous stores
// and add to its sums by asynchronous reductions (st.async, red.async), which complete at
// an mbarrier of that block. The racy twins read before the wait, or send before the
// receiver has read.
// FIXED: fixed
// RACY: read-too-early -DREAD_EARLY
// RACY: sent-too-early -DSEND_EARLY
// UNSEEN: metadata: asynchronous stores are not followed
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 64, Cluster = 2, Blocks = 4;
constexpr Scaled<64, 8> Rounds;

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
  __shared__ unsigned Cells[Threads], Sums[Threads / 2];
  __shared__ uint64_t Full;
  const unsigned T = threadIdx.x, Rank = clusterRank(), Next = (Rank + 1) % Cluster;
  const unsigned Cell = remoteShared(&Cells[Threads - 1 - T], Next);
  const unsigned Sum = remoteShared(&Sums[T / 2], Next);
  const unsigned Done = remoteShared(&Full, Next);
  unsigned Value = blockIdx.x * Threads + T, Total = 0;
  Cells[T] = 0;
  if (T < Threads / 2)
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
    Total += Sums[T / 2]; // RACE
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
  std::vector<unsigned> Value(N), Total(N), Sums(N);
  for (unsigned I = 0; I < N; ++I)
    Value[I] = I;
  for (unsigned R = 0; R < Rounds; ++R) {
    std::vector<unsigned> Before = Value;
    for (unsigned I = 0; I < N; ++I) {
      const unsigned B = I / Threads, T = I % Threads;
      const unsigned From = (B ^ 1) * Threads, Pair = T / 2;
      Value[I] = Before[From + Threads - 1 - T] + 1;
      Sums[I] += Before[From + 2 * Pair] % 16 + Before[From + 2 * Pair + 1] % 16;
      Total[I] += Sums[I];
    }
  }
  unsigned *Out = zeroed<unsigned>(N);
  launchClusters(ring, Cluster, Blocks, Threads, Out);
  return finish(matches(Out, N, [&](size_t I) { return Value[I] + Total[I]; }));
}
