//===- Cells.h - Cells, and where they are ---------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accessors, 64 bits each, and the way from an address to its cell, in either
// layout. A cell's two words are written apart, each in one piece: whatever
// mixture of old and new a thread finds, each word tells of an access that
// happened. So no cell needs a lock, on any target (docs/metadata-design.md,
// "Accessors and cells").
//
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_CELLS_H
#define CRSAN_DEVICE_METADATA_CELLS_H

#include "collider/Watchpoints.h"
#include "crsan/abi/Check.h"
#include "crsan/abi/Metadata.h"

namespace crsan::device {

DEVICE bool isShadowed() { return __crsan_config.Flags & Shadowed; }

/// Whether an access is strong, by what it is and by what the user has said of
/// volatile ones.
DEVICE bool isStrongSite(const AccessSite &S) {
  return (S.Flags & IsStrong) &&
         !((S.Roles & IsVolatile) && (__crsan_config.Flags & WeakVolatile));
}

DEVICE Metadata &metadata() {
  return *reinterpret_cast<Metadata *>(__crsan_config.Metadata);
}

/// The table at `Offset` from the head.
template <typename T> DEVICE T *table(uint64_t Offset) {
  return reinterpret_cast<T *>(__crsan_config.Metadata + Offset);
}

/// Which bytes of a word: all, one, or a half of it. An odd run is cut down to
/// the half that it covers: what is left out is not checked.
enum class Bytes : uint32_t { All = 0, First = 1, Low = 5, High = 6, None = 7 };

DEVICE Bytes bytesOf(uint32_t From, uint32_t To) {
  switch (To - From) {
  case 4:
    return Bytes::All;
  case 1:
    return Bytes(1 + From);
  case 2:
    return From == 0 ? Bytes::Low : From == 2 ? Bytes::High : Bytes(2);
  case 3:
    return From == 0 ? Bytes::Low : Bytes::High;
  default:
    return Bytes::None;
  }
}
DEVICE uint32_t maskOf(Bytes B) {
  return 0x0c38421fu >> (4 * uint32_t(B)) & 15;
}

/// An access of a word, as its cell remembers it. 0 is nobody.
struct Accessor : AccessorLayout {
  uint64_t Bits;

  static constexpr uint32_t ExactClocks = 1u << (64 - ClockAt),
                            CachedClocks = 1u << (TagAt - ClockAt),
                            InFlightClocks = 1u << (InFlightAt - ClockAt);

  DEVICE explicit Accessor(uint64_t Bits) : Bits(Bits) {}
  DEVICE static Accessor make(uint32_t Site, uint32_t Lane, uint32_t Warp,
                              uint32_t Clock) {
    return Accessor(uint64_t(Clock) << ClockAt | uint64_t(Site) << SiteAt |
                    Warp << WarpAt | Lane << LaneAt);
  }
  DEVICE Accessor with(Bytes B) const {
    return Accessor(Bits | uint64_t(B) << BytesAt);
  }
  DEVICE Accessor several() const { return Accessor(Bits | Several); }
  DEVICE Accessor strong(bool IsWide) const {
    return Accessor(Bits | Strong | (IsWide ? WideOrLocked : 0));
  }
  DEVICE Accessor inFlight() const { return Accessor(Bits | InFlight); }
  DEVICE Accessor locked() const { return Accessor(Bits | WideOrLocked); }

  DEVICE bool isNobody() const { return Bits == 0; }
  DEVICE uint32_t site() const { return uint32_t(Bits >> SiteAt) & 0xffff; }
  DEVICE uint32_t lane() const { return Bits >> LaneAt & 31; }
  DEVICE uint32_t warp() const { return Bits >> WarpAt & (NumWarps - 1); }
  DEVICE Bytes bytes() const {
    return isInFlight() ? Bytes::All : Bytes(Bits >> BytesAt & 7);
  }
  DEVICE bool isSeveral() const { return Bits & Several; }
  DEVICE bool isStrong() const { return Bits & Strong; }
  DEVICE bool isWide() const { return isStrong() && (Bits & WideOrLocked); }
  DEVICE bool isLocked() const { return !isStrong() && (Bits & WideOrLocked); }
  DEVICE uint32_t clock() const { return uint32_t(Bits >> ClockAt); }

  /// By an asynchronous copy, of which it is not known here whether its thread
  /// has waited for it (Copies.h); its clock is no access's.
  DEVICE bool isInFlight() const { return (Bits & BytesMask) == BytesMask; }
  /// When the access was made, or the copy issued that is in flight.
  DEVICE uint32_t made() const {
    return isInFlight() ? clock() & (InFlightClocks - 1) : clock();
  }
  /// As a write that was made at `Clock`.
  DEVICE Accessor landed(uint32_t Clock) const {
    constexpr uint64_t Others = (uint64_t(1) << ClockAt) - 1;
    return Accessor((Bits & Others & ~InFlight) | uint64_t(Clock) << ClockAt);
  }

  /// The same thread, without synchronisation in its warp between the two.
  DEVICE bool isSameMoment(Accessor O) const {
    return ((Bits ^ O.Bits) & WhoAndWhen) == 0;
  }
  /// The same access as a warp makes it, by any of its lanes.
  DEVICE bool isSameButLane(Accessor O) const {
    return ((Bits ^ O.Bits) & SameButLane) == 0;
  }
};
static_assert(AccessorLayout::WarpAt + WarpBits == AccessorLayout::BytesAt);

/// Where a word's accessors are kept, whatever the layout.
struct CellRef {
  Cell *At;     ///< Null: not tracked.
  uint32_t Tag; ///< Of a cached cell; CacheWays in an exact one.
  bool IsShared;

  DEVICE bool isCached() const { return Tag < CacheWays; }
  DEVICE uint32_t clocks() const {
    return isCached() ? Accessor::CachedClocks : Accessor::ExactClocks;
  }
  /// What a word of the cell says about our word: nothing, if another word that
  /// shares the cell was there last.
  DEVICE Accessor decode(uint64_t Word) const {
    if (!isCached())
      return Accessor(Word);
    constexpr uint64_t TagMask = uint64_t(CacheWays - 1) << Accessor::TagAt;
    return Accessor(Word >> Accessor::TagAt == Tag ? Word & ~TagMask : 0);
  }
  DEVICE uint64_t encode(Accessor A) const {
    return isCached() ? A.Bits | uint64_t(Tag) << Accessor::TagAt : A.Bits;
  }

  /// `IsNear`: what the multiprocessor's cache says will do.
  DEVICE Cell load(bool IsNear) const {
    Cell C;
    if (IsNear)
      asm volatile("ld.v2.u64 {%0, %1}, [%2];"
                   : "=l"(C.Writer), "=l"(C.Reader)
                   : "l"(At)
                   : "memory");
    // Shared memory's shadow is this block's own, so that its cache will do.
    else if (IsShared)
      asm volatile("ld.relaxed.cta.v2.u64 {%0, %1}, [%2];"
                   : "=l"(C.Writer), "=l"(C.Reader)
                   : "l"(At)
                   : "memory");
    else
      asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
                   : "=l"(C.Writer), "=l"(C.Reader)
                   : "l"(At)
                   : "memory");
    return C;
  }
  DEVICE uint64_t loadReader() const { return loadRelaxed(At->Reader); }
  DEVICE void setReader(Accessor A) const {
    storeRelaxed(At->Reader, encode(A));
  }
  DEVICE void setWriter(Accessor A) const {
    storeRelaxed(At->Writer, encode(A));
  }
  DEVICE uint64_t exchangeWriter(Accessor A) const {
    return exchange(At->Writer, encode(A));
  }
};

/// The shadow of the page that `A` is in, for all of an access.
class PageRef {
  uint64_t Entry; ///< 0: not tracked.
  DEVICE PageRef() : Entry(0) {}

public:
  DEVICE static PageRef none() { return PageRef(); }
  DEVICE explicit PageRef(Address A) {
    const uint64_t &From = table<uint64_t>(PagesAt)[pageIndex(A)];
    Entry = loadNear(From);
    // The multiprocessor's cache may not have heard of it yet.
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

DEVICE uint32_t sharedOffset(Address A) {
  uint64_t Offset;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(Offset) : "l"(A));
  return uint32_t(Offset);
}

/// How far behind the first of a block's shared cells an offset of 0 has its.
DEVICE uint64_t clusterBias() {
  return (uint64_t(__crsan_cluster_rank()) << ClusterRankAt) / 4 * sizeof(Cell);
}

/// Where the shadow of a block's shared memory lies, 0 if nowhere, less
/// clusterBias. Blocks that are far apart share a region; a cell tells whose it
/// is.
DEVICE uint64_t sharedCells(uint32_t Block) {
  uint32_t Bytes;
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(Bytes));
  const uint32_t Stride = ((Bytes + 127) & ~127u) / 4 * uint32_t(sizeof(Cell));
  // Offsets count from the memory that the system has reserved.
  constexpr uint32_t Reserved = 1024 / 4 * sizeof(Cell);
  const uint32_t All = uint32_t(metadata().SharedBytes);
  const uint32_t Regions =
      Stride && All > Reserved ? (All - Reserved) / Stride : 0;
  return Regions ? metadata().SharedShadow +
                       uint64_t(Block % Regions) * Stride - clusterBias()
                 : 0;
}
DEVICE CellRef sharedCell(uint64_t Cells, Address A) {
  return {reinterpret_cast<Cell *>(Cells) + sharedOffset(A) / 4, CacheWays,
          true};
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_CELLS_H
