// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies, mbarriers and clusters.
//
// What may race is a macro, so that a report names the line that uses it.
#ifndef CRSAN_TEST_PROGRAMS_ASYNCHRONOUS_H
#define CRSAN_TEST_PROGRAMS_ASYNCHRONOUS_H

#include "../check.h"
#include <cstdint>

/// The address in shared memory, as assembly takes it.
__device__ inline unsigned shared(const void *P) {
  return unsigned(__cvta_generic_to_shared(P));
}

/// The same variable of another block of the cluster.
__device__ inline unsigned remoteShared(const void *P, unsigned Rank) {
  unsigned Address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(Address)
      : "r"(shared(P)), "r"(Rank));
  return Address;
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

/// For \p Count arrivals a phase. Other threads and copies may use the barrier
/// after a barrier of the block or the cluster.
__device__ inline void initBarrier(uint64_t *Barrier, unsigned Count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;\n\t"
               "fence.mbarrier_init.release.cluster;\n\t"
               "fence.proxy.async;" ::"r"(shared(Barrier)),
               "r"(Count)
               : "memory");
}

__device__ inline void arrive(uint64_t *Barrier) {
  asm volatile("{\n\t.reg .b64 State;\n\t"
               "mbarrier.arrive.shared.b64 State, [%0];\n\t}" ::"r"(shared(Barrier))
               : "memory");
}

/// Arrives, and says how many bytes the phase waits for besides.
__device__ inline void expect(uint64_t *Barrier, unsigned Bytes) {
  asm volatile("{\n\t.reg .b64 State;\n\t"
               "mbarrier.arrive.expect_tx.shared.b64 State, [%0], %1;\n\t}" ::"r"(
                   shared(Barrier)),
               "r"(Bytes)
               : "memory");
}

/// Waits for the end of the phase of this parity.
__device__ inline void wait(uint64_t *Barrier, unsigned Parity) {
  unsigned IsOver;
  do
    asm volatile("{\n\t.reg .pred P;\n\t"
                 "mbarrier.try_wait.parity.shared.b64 P, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, P;\n\t}"
                 : "=r"(IsOver)
                 : "r"(shared(Barrier)), "r"(Parity)
                 : "memory");
  while (!IsOver);
}

/// Arrives at the mbarrier of another block of the cluster.
__device__ inline void arriveAt(uint64_t *Barrier, unsigned Rank) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                   remoteShared(Barrier, Rank))
               : "memory");
}

/// Waits as above; other blocks of the cluster take part.
__device__ inline void waitForCluster(uint64_t *Barrier, unsigned Parity) {
  unsigned IsOver;
  do
    asm volatile(
        "{\n\t.reg .pred P;\n\t"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, P;\n\t}"
        : "=r"(IsOver)
        : "r"(shared(Barrier)), "r"(Parity)
        : "memory");
  while (!IsOver);
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// Copies 4 or 16 bytes into shared memory.
#define COPY4(To, From)                                                        \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared(To)),   \
               "l"(From)                                                       \
               : "memory")
#define COPY16(To, From)                                                       \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(To)),  \
               "l"(From)                                                       \
               : "memory")

__device__ inline void commitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits for all groups of this thread but the last \p Groups.
template <unsigned Groups = 0> __device__ inline void awaitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//

/// Generic accesses before it come before bulk copies after it.
__device__ inline void fenceForCopies() {
  asm volatile("fence.proxy.async;" ::: "memory");
}

/// From global to shared memory; the mbarrier gets the bytes.
#define BULK_LOAD(To, From, Bytes, Barrier)                                    \
  asm volatile("cp.async.bulk.shared::cluster.global"                          \
               ".mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(    \
                   shared(To)),                                                \
               "l"(From), "r"(unsigned(Bytes)), "r"(shared(Barrier))           \
               : "memory")

/// From shared to global memory.
#define BULK_STORE(To, From, Bytes)                                            \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"   \
               ::"l"(To), "r"(shared(From)), "r"(unsigned(Bytes))              \
               : "memory")

__device__ inline void commitBulk() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all bulk copies of this thread but the last \p Groups groups are done.
template <unsigned Groups = 0> __device__ inline void awaitBulk() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Groups) : "memory");
}

/// Waits until they have read their source.
template <unsigned Groups = 0> __device__ inline void awaitBulkReads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Groups) : "memory");
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

__device__ inline unsigned clusterRank() {
  unsigned Rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(Rank));
  return Rank;
}

__device__ inline void clusterSync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Nobody goes on before all have come. This orders no accesses.
__device__ inline void clusterMeet() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\t"
               "barrier.cluster.wait.aligned;" ::: "memory");
}

/// The same variable of another block of the cluster.
template <typename T> __device__ T *remote(T *P, unsigned Rank) {
  uint64_t Address;
  asm("mapa.u64 %0, %1, %2;" : "=l"(Address) : "l"(P), "r"(Rank));
  return reinterpret_cast<T *>(Address);
}

template <typename... Parameters, typename... Arguments>
void launchClusters(void (*Kernel)(Parameters...), unsigned Cluster, unsigned Blocks,
                    unsigned Threads, Arguments... Args) {
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim = {Cluster, 1, 1};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Blocks;
  Config.blockDim = Threads;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&Config, Kernel, Parameters(Args)...));
}

#endif // CRSAN_TEST_PROGRAMS_ASYNCHRONOUS_H
