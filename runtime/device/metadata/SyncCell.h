// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which sync cells an object has.
#ifndef CRSAN_DEVICE_METADATA_SYNCCELL_H
#define CRSAN_DEVICE_METADATA_SYNCCELL_H

#include "metadata/Seen.h"
#include "metadata/Shadow.h"

namespace crsan::device {

/// The number of common cells at the beginning of the table. Every release
/// beyond a block also goes into one of these, by the number of its warp. So an
/// access at a clock that none of them contains is known to no other block, no
/// other grid and not to the host.
constexpr uint32_t NumAnyWide = 4;

/// The clock of a warp of which everything may be known: no clock is larger.
constexpr uint32_t Everything = ~0u;

/// Objects with smaller values are barriers, by number; other objects are
/// addresses.
constexpr uint64_t FirstAddress = 4096;

/// A hash whose low bits depend on all bits of the object.
DEVICE uint32_t hashOf(uint64_t Object) {
  const uint64_t Product = Object * 0x9e3779b97f4a7c15ull;
  // A key whose low bits are all zero would otherwise leave the low bits of the
  // hash regular.
  return uint32_t(Product >> 32) ^ uint32_t(Product >> 45);
}
/// The wide cell of a key; never one of the common cells.
DEVICE uint32_t wideCellOf(uint64_t Key) {
  const uint32_t Cell = hashOf(Key) % NumWideCells;
  return Cell < NumAnyWide ? Cell + NumAnyWide : Cell;
}

/// Whether only threads of this block can access `A`: it is in shared memory,
/// and the grid has no clusters.
DEVICE bool isOfBlock(Address A) {
  return spaceOf(A) == Space::Shared && !hasClusters();
}
/// Whether `Object` is in the shared memory of a cluster, where threads of
/// other blocks may arrive at it. A wait of block scope counts as one of the
/// cluster's: nearly all code waits so for arrivals of other blocks.
DEVICE bool isOfCluster(uint64_t Object) {
  return spaceOf(Object) == Space::Shared && hasClusters();
}

/// The key for objects that threads synchronize through beyond a block, except
/// tracked memory. The blocks of a cluster reach one object in shared memory by
/// several addresses, which have the offset in common: objects at that offset
/// share a key, and so do all objects that are not in shared memory.
DEVICE uint64_t keyOfCluster(uint64_t Object) {
  auto Of = [](uint32_t Block, uint32_t D) {
    return Block / __crsan_cluster_extent(D);
  };
  constexpr uint64_t Window = uint64_t(1) << ClusterRankAt;
  const uint64_t Offset =
      Object >= FirstAddress && spaceOf(Object) == Space::Shared
          ? Object % Window / 16 + 1
          : 0;
  return gridHere() * 0x9e3779b97f4a7c15ull + Offset * 0xc2b2ae3d27d4eb4full +
         (uint64_t(Of(__nvvm_read_ptx_sreg_ctaid_z(), 2)) << 42 |
          uint64_t(Of(__nvvm_read_ptx_sreg_ctaid_y(), 1)) << 21 |
          Of(__nvvm_read_ptx_sreg_ctaid_x(), 0));
}

/// The first of a block's SubCells. The hash keeps blocks at a distance of a
/// power of two apart, since such blocks often work on the same data.
DEVICE uint32_t syncCellsOf(uint64_t Grid, uint64_t Block) {
  return NumWideCells + hashOf(Block << 32 ^ Grid) * SubCells % NumWideCells;
}

/// The two sync cells of an object: one for what was released beyond a block,
/// and one for what threads of one block released to each other.
struct SyncCells {
  uint32_t Wide; ///< 0: the object is used within its block only.
  uint32_t Sub;  ///< Index among the SubCells of the block.

  DEVICE SyncCells(uint64_t Object, bool IsWide)
      : SyncCells(Object, IsWide, IsWide && pageOf(Object).isTracked()) {}
  /// `IsTracked`: whether the page of the object is.
  DEVICE SyncCells(uint64_t Object, bool IsWide, bool IsTracked)
      : Wide(0), Sub(subCellOf(granule(Object))) {
    if (IsWide)
      Wide = wideCellOf(IsTracked ? granule(Object) : keyOfCluster(Object));
  }
  DEVICE static PageRef pageOf(uint64_t Object) {
    const bool IsGlobal =
        Object >= FirstAddress && spaceOf(Object) == Space::Global;
    return IsGlobal ? PageRef(Object) : PageRef::none();
  }
  /// Strong accesses of 16 bytes may synchronize with smaller ones in the same
  /// 16 bytes.
  DEVICE static uint64_t granule(uint64_t Object) {
    return Object < FirstAddress ? Object : Object & ~uint64_t(15);
  }
  DEVICE static uint32_t subCellOf(uint64_t Object) {
    // Named barriers that are used together have different numbers and, as a
    // rule, different cells.
    return uint32_t(Object < FirstAddress ? Object : hashOf(Object)) % SubCells;
  }
  DEVICE uint32_t ofBlock(const Self &Me) const {
    return loadNear(Me.warp().SyncCells) + Sub;
  }
  DEVICE static SyncCell &at(uint32_t Cell) {
    return table<SyncCell>(SyncCellsAt)[Cell];
  }
  /// The cell of the barrier of this thread's block.
  DEVICE static uint32_t ofBarrier(const Self &Me) {
    return NumObjectCells + Me.firstWarp();
  }
};
static_assert(NumWideCells % SubCells == 0);

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_SYNCCELL_H
