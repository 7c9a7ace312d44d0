// Intent: the blocks of a cluster write tiles and send them to each other by bulk copies
// within shared memory. The racy twins lack the fence between the proxies; in the one a block
// sends what it has written itself, in the other what another block has written there.
// FIXED: own
// FIXED: others -DOTHERS
// FIXED: others-by-copier -DOTHERS -DBY_COPIER
// RACY: own-no-fence -DNO_FENCE
// RACY: others-no-fence -DOTHERS -DNO_FENCE
// UNSEEN: collider: what a fence between proxies changes is not seen in values
// UNSEEN: metadata (others-no-fence): a fence of the block, at the mbarrier, may be behind the write
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 64, Cluster = 2, Clusters = 1;

__global__ void exchange(unsigned *Out) {
  __shared__ alignas(128) unsigned Tile[Threads];
  __shared__ alignas(128) unsigned Got[Threads];
  __shared__ uint64_t Full;
  const unsigned T = threadIdx.x, Other = 1 - clusterRank();
  if (T == 0)
    initBarrier(&Full, 1);
  clusterSync();
  if (T == 0)
    expect(&Full, sizeof Got);
#ifdef OTHERS
  remote(Tile, Other)[T] = blockIdx.x * Threads + T + 1; // RACE: others-no-fence
#else
  Tile[T] = blockIdx.x * Threads + T + 1; // RACE: own-no-fence
#endif
#if !defined NO_FENCE && !defined BY_COPIER
  fenceForCopies();
#endif
  clusterSync();
  if (T == 0) {
#ifdef BY_COPIER
    fenceForCopies();
#endif
    asm volatile("cp.async.bulk.shared::cluster.shared::cta" // RACE
                 ".mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     remoteShared(Got, Other)),
                 "r"(shared(Tile)), "r"(unsigned(sizeof Tile)),
                 "r"(remoteShared(&Full, Other))
                 : "memory");
  }
  waitForCluster(&Full, 0);
  Out[blockIdx.x * Threads + T] = Got[T];
  clusterSync(); // Nobody sends to a block that has ended.
}

int main() {
  const unsigned N = Cluster * Clusters * Threads;
  unsigned *Out = zeroed<unsigned>(N);
  launchClusters(exchange, Cluster, Cluster * Clusters, Threads, Out);
  return finish(matches(Out, N, [](size_t I) {
#ifdef OTHERS
    return unsigned(I + 1);
#else
    return unsigned((I / Threads ^ 1) * Threads + I % Threads + 1);
#endif
  }));
}
