// Intent: a cluster's blocks work on rows of their own and on one that they share. A warp
// brings them; that of the first block brings the common row to all blocks by one multicast
// bulk copy, when all have said that they have read the last one. The racy twins say so too
// early, or do not wait for their own row.
// FIXED: two-stages
// FIXED: one-stage -DSTAGES=1
// RACY: freed-too-early -DFREE_EARLY -DSTAGES=1
// RACY: own-not-awaited -DOWN_LATE
// UNSEEN: collider: the copy is seldom under way while a check looks at a row
// ARCH: sm_90
#include "asynchronous.h"

#ifndef STAGES
#define STAGES 2
#endif

constexpr unsigned Threads = 64, Cluster = 2, Blocks = 4, Summands = 4;
constexpr unsigned Bytes = Threads * sizeof(unsigned);
CONSTANT Scaled<64, 4> Rounds;

/// To the same place of all blocks that the mask names, each of whose mbarriers gets the
/// bytes.
#define BULK_MULTICAST(To, From, Bytes, Barrier, Mask)                         \
  asm volatile("cp.async.bulk.shared::cluster.global"                          \
               ".mbarrier::complete_tx::bytes.multicast::cluster "             \
               "[%0], [%1], %2, [%3], %4;" ::"r"(shared(To)),                  \
               "l"(From), "r"(unsigned(Bytes)), "r"(shared(Barrier)),          \
               "h"((unsigned short)(Mask))                                     \
               : "memory")

struct Stage {
  alignas(128) unsigned Common[Threads];
  alignas(128) unsigned Own[Threads];
  alignas(16) uint64_t HasCommon;
  alignas(16) uint64_t HasOwn;
  alignas(16) uint64_t IsFree;
};

__global__ void products(const unsigned *Common, const unsigned *Own, unsigned *Out) {
  __shared__ Stage All[STAGES];
  const unsigned T = threadIdx.x, Rank = clusterRank(), B = blockIdx.x;
  unsigned Sum = 0;
  if (T < STAGES) {
    initBarrier(&All[T].HasCommon, 1);
    initBarrier(&All[T].HasOwn, 1);
    initBarrier(&All[T].IsFree, Cluster * Threads);
  }
  clusterSync();
  for (unsigned R = 0; R < Rounds; ++R) {
    Stage &S = All[R % STAGES];
    const unsigned Parity = R / STAGES % 2, Turn = R / STAGES;
    if (T == Threads) {
      fenceForCopies();
      expect(&S.HasCommon, Bytes);
      expect(&S.HasOwn, Bytes);
      BULK_LOAD(S.Own, Own + (B * Rounds + R) * Threads, Bytes, // RACE: own-not-awaited
                &S.HasOwn);
      if (Rank == 0) {
        if (Turn > 0)
          waitForCluster(&S.IsFree, (Turn - 1) % 2);
        fenceForCopies();
        BULK_MULTICAST(S.Common, Common + R * Threads, Bytes, // RACE: freed-too-early
                       &S.HasCommon, (1 << Cluster) - 1);
      }
    }
    if (T < Threads) {
      waitForCluster(&S.HasCommon, Parity);
#ifdef FREE_EARLY
      arriveAt(&S.IsFree, 0);
#endif
#ifndef OWN_LATE
      wait(&S.HasOwn, Parity);
#endif
      const unsigned Factor = S.Own[(T + 32) % Threads]; // RACE: own-not-awaited
#pragma unroll 1
      for (unsigned I = 1; I <= Summands; ++I)
        Sum += Factor * S.Common[(T + I) % Threads]; // RACE: freed-too-early
#ifdef OWN_LATE
      wait(&S.HasOwn, Parity);
#endif
#ifndef FREE_EARLY
      arriveAt(&S.IsFree, 0);
#endif
    }
    __syncthreads(); // The block's own row may be replaced, its mbarriers used again.
  }
  clusterSync(); // No block ends while others write to it.
  if (T < Threads)
    Out[B * Threads + T] = Sum;
}

int main() {
  std::vector<unsigned> Common, Own, Want(Blocks * Threads);
  for (unsigned I = 0; I < Rounds * Threads; ++I)
    Common.push_back(I % 53 + 1);
  for (unsigned I = 0; I < Blocks * Rounds * Threads; ++I)
    Own.push_back(I % 71 + 1);
  for (unsigned I = 0; I < Blocks * Threads; ++I)
    for (unsigned R = 0; R < Rounds; ++R)
      for (unsigned J = 1; J <= Summands; ++J)
        Want[I] += Common[R * Threads + (I + J) % Threads] *
                   Own[(I / Threads * Rounds + R) * Threads + (I + 32) % Threads];
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  launchClusters(products, Cluster, Blocks, Threads + 32, upload(Common), upload(Own), Out);
  return finish(matches(Out, Blocks * Threads, [&](size_t I) { return Want[I]; }));
}
