// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where this thread is in its grid, what memory an address is in, and the
// instructions by which the lanes of a warp tell each other a value.
#ifndef CRSAN_DEVICE_COMMON_DEVICE_H
#define CRSAN_DEVICE_COMMON_DEVICE_H

#include "crsan/abi/BlockOrder.h"
#include "crsan/abi/Config.h"
#include "crsan/abi/Record.h"
#include "crsan/abi/Site.h"
#include "crsan/abi/Watchpoints.h"

// The toolkit's headers are not needed for this file, and not included.
#define DEVICE __attribute__((device, always_inline)) inline
/// How functions are declared that programs call: the pass knows their names.
/// In a kernel of the runtime's own (Operation.cu), what it does not call is
/// left out.
#ifndef CRSAN_ENTRY
#define CRSAN_ENTRY extern "C" __attribute__((used))
#endif
/// Entry points of metadata mode that programs call at synchronization, and so
/// often.
#define HOT_ENTRY CRSAN_ENTRY __attribute__((device, noinline, convergent))
/// Functions that several entry points of metadata mode share, or code that is
/// rare or long. crsan-ptxas knows these functions by their mangled names.
#define HELPER static __attribute__((device, noinline, convergent))
/// Cold entry points, which stay real calls: kernels are many.
#define ENTRY CRSAN_ENTRY __attribute__((device, noinline, cold, convergent))

// The braces make this a definition and not only a declaration. The symbol is
// weak so that the units of an image share one.
extern "C" {
__attribute__((constant, weak)) crsan::abi::Config __crsan_config;
}

namespace crsan::device {

using namespace crsan::abi;

using Address = uint64_t;

/// The number of this multiprocessor.
DEVICE uint32_t smid() {
  uint32_t Sm;
  asm("mov.u32 %0, %%smid;" : "=r"(Sm));
  return Sm;
}

/// A random number, not the same in all lanes.
DEVICE uint32_t random() {
  uint32_t Clock, Warp;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(Clock));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(Warp));
  return mix(Clock ^
             mix(__crsan_config.Seed * 0x9e3779b9u + (smid() << 8) + Warp));
}

/// The lanes that are active here, at this moment; the mask may be outdated by
/// the next instruction.
DEVICE uint32_t activeMask() {
  uint32_t Mask;
  asm volatile("activemask.b32 %0;" : "=r"(Mask));
  return Mask;
}

/// Index of this lane in its warp.
DEVICE uint32_t lane() {
  uint32_t Lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(Lane));
  return Lane;
}

/// The cycles that this multiprocessor has counted.
DEVICE uint64_t cycleNow() {
  uint64_t Cycle;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(Cycle)::"memory");
  return Cycle;
}

/// Waits for a number of clock cycles. `nanosleep` would release lanes that
/// wait for this lane at the end of a branch (docs/convergence.md), so this
/// function polls the clock.
DEVICE void pause(uint32_t Cycles) {
  uint32_t Start, Now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(Start)::"memory");
  do
    asm volatile("mov.u32 %0, %%clock;" : "=r"(Now)::"memory");
  while (Now - Start < Cycles);
}

/// `Value` of lane `From`, one of `Mask`: the lanes that take part.
DEVICE uint32_t broadcast(uint32_t Mask, uint32_t Value, uint32_t From) {
  return __nvvm_shfl_sync_idx_i32(Mask, Value, From, 31);
}
/// `Value` of lane `From`. `Mask`: the lanes that take part.
DEVICE uint64_t shuffle(uint32_t Mask, uint64_t Value, uint32_t From) {
  const uint32_t Low =
      __nvvm_shfl_sync_idx_i32(Mask, uint32_t(Value), From, 31);
  const uint32_t High =
      __nvvm_shfl_sync_idx_i32(Mask, uint32_t(Value >> 32), From, 31);
  return uint64_t(High) << 32 | Low;
}

/// Scales a random number to the range from 0 to `Bound` - 1.
DEVICE uint32_t below(uint32_t Random, uint32_t Bound) {
  return uint32_t((uint64_t(Random) * Bound) >> 32);
}

/// Whether memory at `A` can race. Local memory is private, and constant and
/// parameter memory are immutable (SuperCollider 3.3), also behind a generic
/// pointer.
DEVICE bool canRace(Address A) {
  uint32_t Local, Constant, Param;
  asm("{ .reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(Local)
      : "l"(A));
  asm("{ .reg .pred p; isspacep.const p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(Constant)
      : "l"(A));
  asm("{ .reg .pred p; isspacep.param p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(Param)
      : "l"(A));
  return !(Local | Constant | Param);
}
/// Whether `A` is in the shared memory of this block.
DEVICE bool isOwnShared(Address A) {
  uint32_t Shared;
  asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(Shared)
      : "l"(A));
  return Shared;
}
/// Whether `A` is in the shared memory of any block of the cluster. The pass
/// defines this function, since the pass knows whether the target has clusters.
extern "C" __attribute__((device)) uint32_t __crsan_is_shared(Address A);
/// Shared for addresses of shared memory (of any block of the cluster), else
/// Global.
DEVICE Space spaceOf(Address A) {
  return __crsan_is_shared(A) ? Space::Shared : Space::Global;
}

/// The identifier of the running grid.
DEVICE uint64_t gridHere() {
  uint64_t Grid;
  asm("mov.u64 %0, %%gridid;" : "=l"(Grid));
  return Grid;
}
/// Whether the block indices of this grid are permuted (BlockShuffle.h).
DEVICE bool isPermutedHere() {
  return (__crsan_config.Flags & ShuffleBlocks) &&
         isGridPermuted(__crsan_config.Seed, gridHere());
}
/// Linear index of this block in its grid.
DEVICE uint64_t linearBlock() {
  return (uint64_t(__nvvm_read_ptx_sreg_ctaid_z()) *
              __nvvm_read_ptx_sreg_nctaid_y() +
          __nvvm_read_ptx_sreg_ctaid_y()) *
             __nvvm_read_ptx_sreg_nctaid_x() +
         __nvvm_read_ptx_sreg_ctaid_x();
}
/// Blocks of this grid.
DEVICE uint64_t blocksOfGrid() {
  return uint64_t(__nvvm_read_ptx_sreg_nctaid_x()) *
         __nvvm_read_ptx_sreg_nctaid_y() * __nvvm_read_ptx_sreg_nctaid_z();
}
/// Linear index of this thread in its block.
DEVICE uint32_t linearThread() {
  return (__nvvm_read_ptx_sreg_tid_z() * __nvvm_read_ptx_sreg_ntid_y() +
          __nvvm_read_ptx_sreg_tid_y()) *
             __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}
/// Warps of a block of this grid; the last may be partial.
DEVICE uint32_t warpsOfBlock() {
  return (__nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ntid_y() *
              __nvvm_read_ptx_sreg_ntid_z() +
          31) /
         32;
}

/// Blocks of a cluster in dimension `D`. The pass defines this function too.
extern "C" __attribute__((device)) uint32_t __crsan_cluster_extent(uint32_t D);
/// Index of this block's cluster in the grid, in dimension `D`; where the
/// target has no clusters, that of the block. The pass defines this function
/// too.
extern "C" __attribute__((device)) uint32_t __crsan_cluster_index(uint32_t D);
/// Rank of this block in its cluster. The pass defines this function too.
/// Generic addresses of a block's own shared memory contain the rank from bit
/// ClusterRankAt on (observed on an H200).
extern "C" __attribute__((device)) uint32_t __crsan_cluster_rank();
/// The lowest bit of the rank in such an address.
constexpr unsigned ClusterRankAt = 24;
/// The rank of the block in whose shared memory `A` is.
DEVICE uint32_t rankOf(Address A) {
  return uint32_t(A) >> ClusterRankAt & 0xff;
}
/// The same place in the shared memory of the block with rank `Rank`. `A` is in
/// that of this block or of another one of the cluster.
DEVICE Address withRank(Address A, uint32_t Rank) {
  return (A & ~(Address(0xff) << ClusterRankAt)) | Address(Rank)
                                                       << ClusterRankAt;
}
/// The generic address of a place in this block's shared memory, by the lower
/// bits of its shared address, which do not say of which block it is.
DEVICE Address ownShared(uint32_t Place) {
  const uint64_t Shared =
      uint64_t(__crsan_cluster_rank()) << ClusterRankAt | Place;
  Address A;
  asm("cvta.shared.u64 %0, %1;" : "=l"(A) : "l"(Shared));
  return A;
}
/// Linear index in the grid of the block with rank `Rank` in this cluster.
DEVICE uint64_t linearBlockOf(uint32_t Rank) {
  const uint32_t X = __crsan_cluster_extent(0), Y = __crsan_cluster_extent(1),
                 Z = __crsan_cluster_extent(2);
  auto At = [](uint32_t Block, uint32_t Extent, uint32_t InCluster) {
    return uint64_t(Block / Extent * Extent + InCluster);
  };
  return (At(__nvvm_read_ptx_sreg_ctaid_z(), Z, Rank / (X * Y)) *
              __nvvm_read_ptx_sreg_nctaid_y() +
          At(__nvvm_read_ptx_sreg_ctaid_y(), Y, Rank / X % Y)) *
             __nvvm_read_ptx_sreg_nctaid_x() +
         At(__nvvm_read_ptx_sreg_ctaid_x(), X, Rank % X);
}
/// The index of the cluster of the block with the linear index `Block`: equal
/// for blocks of one cluster of this grid, and for no others.
DEVICE uint64_t clusterOf(uint64_t Block) {
  const uint64_t X = __nvvm_read_ptx_sreg_nctaid_x(),
                 Y = __nvvm_read_ptx_sreg_nctaid_y();
  return (Block / (X * Y) / __crsan_cluster_extent(2) * Y +
          Block / X % Y / __crsan_cluster_extent(1)) *
             X +
         Block % X / __crsan_cluster_extent(0);
}
/// Whether this grid has clusters of several blocks.
DEVICE bool hasClusters() {
  return __crsan_cluster_extent(0) * __crsan_cluster_extent(1) *
             __crsan_cluster_extent(2) !=
         1;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COMMON_DEVICE_H
