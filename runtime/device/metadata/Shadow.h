// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an address to its cell.
#ifndef CRSAN_DEVICE_METADATA_SHADOW_H
#define CRSAN_DEVICE_METADATA_SHADOW_H

#include "metadata/Cell.h"

namespace crsan::device {

/// The page table entry of the page that contains `A`: the shadow of up to 2
/// MiB.
class PageRef {
  uint64_t Entry; ///< 0: the page is not tracked.
  DEVICE PageRef() : Entry(0) {}

public:
  DEVICE static PageRef none() { return PageRef(); }
  DEVICE explicit PageRef(Address A) {
    const uint64_t &From = table<uint64_t>(PagesAt)[pageIndex(A)];
    Entry = loadNear(From);
    // The L1 cache may hold an old entry.
    if (!isPageOf(Entry, A))
      Entry = loadRelaxed(From);
    if (!isPageOf(Entry, A))
      Entry = 0;
  }
  DEVICE bool isTracked() const { return Entry != 0; }
  DEVICE bool isHost() const { return Entry & PageHost; }
  DEVICE CellRef cell(Address A) const {
    auto *Cells =
        reinterpret_cast<Cell *>(Entry & ((uint64_t(1) << PageTagAt) - 4096));
    const uint32_t Word = uint32_t(A & (PageBytes - 1)) / 4;
    if (!(Entry & PageCached))
      return {Cells + Word, CacheWays, false};
    constexpr uint32_t NumCells = CachedPageShadow / sizeof(Cell);
    return {Cells + Word % NumCells, Word / NumCells, false};
  }
};

/// Offset of a generic address in shared memory.
DEVICE uint32_t sharedOffset(Address A) {
  uint64_t Offset;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(Offset) : "l"(A));
  return uint32_t(Offset);
}

/// Offset 0 of a block's shared memory has its cell this many bytes after the
/// block's first cell.
DEVICE uint64_t clusterBias() {
  return (uint64_t(__crsan_cluster_rank()) << ClusterRankAt) / 4 * sizeof(Cell);
}

/// The address of the cells of the shared memory of the block with the linear
/// index `Block`; 0 if the memory is not tracked. Blocks whose indices are far
/// apart share a region; each accessor tells to which block it belongs.
DEVICE uint64_t sharedRegion(uint32_t Block) {
  uint32_t Bytes;
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(Bytes));
  const uint32_t Stride = ((Bytes + 127) & ~127u) / 4 * uint32_t(sizeof(Cell));
  // Offsets count from the beginning of the shared memory that the system
  // reserves.
  constexpr uint32_t Reserved = 1024 / 4 * sizeof(Cell);
  const uint32_t All = uint32_t(metadata().SharedBytes);
  const uint32_t Regions =
      Stride && All > Reserved ? (All - Reserved) / Stride : 0;
  return Regions ? metadata().SharedShadow + uint64_t(Block % Regions) * Stride
                 : 0;
}
/// WarpState::SharedCells of this block: the address of its cells, less
/// clusterBias; 0 if its shared memory is not tracked.
DEVICE uint64_t sharedCells(uint32_t Block) {
  const uint64_t Region = sharedRegion(Block);
  return Region ? Region - clusterBias() : 0;
}
/// The cell of the word at `A` in the shared memory of any block of the
/// cluster. `Cells`: WarpState::SharedCells, which is not 0.
DEVICE CellRef sharedCell(uint64_t Cells, Address A) {
  if (isOwnShared(A))
    return {reinterpret_cast<Cell *>(Cells) + sharedOffset(A) / 4, CacheWays,
            true};
  constexpr uint32_t OffsetMask = (1u << ClusterRankAt) - 1;
  const uint64_t Region = sharedRegion(uint32_t(linearBlockOf(rankOf(A))));
  return {reinterpret_cast<Cell *>(Region) + (uint32_t(A) & OffsetMask) / 4,
          CacheWays, true};
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_SHADOW_H
