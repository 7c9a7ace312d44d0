// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which threads accessed a word last.
//
// Metadata mode keeps a cell for each 4-byte word of the program's memory: the
// last writer and a reader, 8 bytes each (iGUARD 6.1). The two are written
// separately, each by one store, so that a cell needs no lock.
#ifndef CRSAN_ABI_CELL_H
#define CRSAN_ABI_CELL_H

#include <cstddef>
#include <cstdint>

namespace crsan::abi {

//===----------------------------------------------------------------------===//
// The page table: where the cells of an address are.
//===----------------------------------------------------------------------===//

/// Cells are allocated by pages: one entry of the page table for 2 MiB of the
/// program's memory.
inline constexpr unsigned PageShift = 21;
inline constexpr uint64_t PageBytes = uint64_t(1) << PageShift;
inline constexpr unsigned PageIndexBits = 20;
inline constexpr uint32_t NumPages = 1u << PageIndexBits;

/// An entry of the page table is 0 where the page has no cells. Otherwise it
/// holds the address of the page's first cell (a multiple of 4096, below 2^48),
/// PageFlags in the low bits, and pageTag() in bits 48-62. The tag tells two
/// pages of one index apart; one comparison of the upper 16 bits tells an exact
/// page of the right address from everything else.
inline constexpr unsigned PageTagAt = 48, PageOwnerAt = 3;
enum PageFlags : uint64_t {
  PageHost = 4, ///< The host may access the page while a kernel runs.
  /// The number of the only allocation in this page; from FirstSplitPage on,
  /// the page is shared, and OwnersOfSplitPages says of which allocation each
  /// part of it is. 0: neither.
  PageOwners = uint64_t(511) << PageOwnerAt,
  PageCached = uint64_t(1) << 63, ///< The page's cells are a cache.
};
/// Allocations that only the device accesses have numbers, by which a kernel
/// finds out whether two pointers lead into one of them. An allocation that has
/// a number has it wherever a pointer into it may lead. Numbers below
/// FirstSplitPage are for those that have a page to themselves at first, and
/// numbers from FirstSharedOwner on for the others.
inline constexpr unsigned FirstSplitPage = 448, NumSplitPages = 64,
                          FirstSharedOwner = 512, NumOwners = 1 << 16;
/// A page is split into parts of so many bytes, the least distance of two
/// allocations.
inline constexpr unsigned PartShift = 8;
inline constexpr unsigned PartsOfPage = 1u << (PageShift - PartShift);
inline constexpr uint64_t pageIndex(uint64_t Address) {
  return (Address >> PageShift) & (NumPages - 1);
}
/// The address bits above the index, plus 1.
inline constexpr uint64_t pageTag(uint64_t Address) {
  return ((Address >> (PageShift + PageIndexBits)) & 0x7fff) + 1;
}
inline constexpr uint64_t pageEntry(uint64_t Address, uint64_t Cells,
                                    uint64_t Flags) {
  return pageTag(Address) << PageTagAt | Cells | Flags;
}
/// Whether an entry is of the page that `Address` is in.
inline constexpr bool isPageOf(uint64_t Entry, uint64_t Address) {
  return (Entry & ~PageCached) >> PageTagAt == pageTag(Address);
}

//===----------------------------------------------------------------------===//
// Cells.
//===----------------------------------------------------------------------===//

/// An accessor is 64 bits that say which thread accessed a word, when, and by
/// which site. From the lowest bit: the lane, the warp's number, which bytes of
/// the word, whether several lanes made the same access, whether the access was
/// strong, one more bit (WideOrLocked), and the site's index; then the clock of
/// the warp and, in a cached cell, the tag at the top. The thread is in the
/// lower half and the clock in the upper half, so that comparisons of halves
/// find them.
struct AccessorLayout {
  static constexpr unsigned LaneAt = 0, WarpAt = 5, BytesAt = 20, SiteAt = 26,
                            ClockAt = 42, TagAt = 59;
  static constexpr uint64_t Several = uint64_t(1) << 23,
                            Strong = uint64_t(1) << 24,
                            /// Of a strong access: its scope is wider than the
                            /// block. Of a weak one: the thread held a lock.
      WideOrLocked = uint64_t(1) << 25;
  /// Of a barrier at which threads meet (Meeting.h), the bits from BytesAt to
  /// SiteAt are the last ones of the number of the iteration.
  static constexpr unsigned IterationBits = SiteAt - BytesAt;
  /// Who: the thread, as lane and warp.
  static constexpr uint64_t LaneMask = uint64_t(31) << LaneAt,
                            Who = (uint64_t(1) << BytesAt) - 1,
                            BytesMask = uint64_t(7) << BytesAt,
                            SiteMask = uint64_t(0xffff) << SiteAt;
  /// The thread and the clock.
  static constexpr uint64_t WhoAndWhen = Who | ~uint64_t(0) << ClockAt;
  /// The bits that are equal where lanes of a warp make the same access.
  static constexpr uint64_t SameButLane = ~(LaneMask | Several | WideOrLocked);
  /// Set in the accessor that an asynchronous copy leaves where it writes
  /// (whole words of shared memory). The highest bit of the clock makes every
  /// comparison of clocks take the copy for later than any access; the bits
  /// below it are the clock at which the copy was issued. Since no thread's own
  /// accessor has these byte bits, none is equal to it.
  static constexpr unsigned InFlightAt = 63;
  static constexpr uint64_t InFlight =
      uint64_t(1) << InFlightAt | BytesMask | Several;
};

/// The accessors of one word.
struct Cell {
  uint64_t Writer;
  uint64_t Reader;
};
static_assert(sizeof(Cell) == 16 && offsetof(Cell, Writer) == 0 &&
              offsetof(Cell, Reader) == 8);

/// Bytes of cells for a page. Exact: one cell per word. Cached: one cell for
/// every 32 words, direct-mapped and tagged (ScoRD IV-B), which is 12.5 % of
/// the program's memory.
inline constexpr uint64_t ExactPageShadow = PageBytes / 4 * sizeof(Cell);
inline constexpr unsigned CacheWays = 32;
inline constexpr uint64_t CachedPageShadow = ExactPageShadow / CacheWays;
static_assert(ExactPageShadow == 4 * PageBytes);
static_assert(CachedPageShadow * 8 == PageBytes);

/// An accessor that a cell may no longer hold, and the same accessor combined
/// with the address of its word, which tells whose it is. A word's victims are
/// in one of the sets of VictimWays entries, by a hash of the word.
struct alignas(16) Victim {
  uint64_t Accessor, Mixed;
};
static_assert(sizeof(Victim) == 16 && offsetof(Victim, Accessor) == 0 &&
              offsetof(Victim, Mixed) == 8);
inline constexpr uint32_t NumVictims = 1u << 16, VictimWays = 16;

} // namespace crsan::abi

#endif // CRSAN_ABI_CELL_H
