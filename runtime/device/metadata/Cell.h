// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two accessors of a word.
#ifndef CRSAN_DEVICE_METADATA_CELL_H
#define CRSAN_DEVICE_METADATA_CELL_H

#include "metadata/Accessor.h"

namespace crsan::device {

/// The place of one word's cell, in either layout: exact (a cell of its own) or
/// cached (a cell shared by CacheWays words and tagged). The two accessors of a
/// cell are written separately, each in one piece, so no cell needs a lock
/// (docs/metadata-design.md, "Why a cell has no lock").
struct CellRef {
  Cell *At; ///< Null: the word is not tracked.
  uint32_t
      Tag; ///< Tag of the word in a cached cell; CacheWays in an exact one.
  bool IsShared;

  DEVICE bool isCached() const { return Tag < CacheWays; }
  DEVICE uint32_t clocks() const {
    return isCached() ? Accessor::CachedClocks : Accessor::ExactClocks;
  }
  /// The accessor that `Word`, a half of this cell, holds for our memory word;
  /// no access if another word that shares the cell was the last.
  DEVICE Accessor decode(uint64_t Word) const {
    if (!isCached())
      return Accessor(Word);
    constexpr uint64_t TagMask = uint64_t(CacheWays - 1) << Accessor::TagAt;
    return Accessor(Word >> Accessor::TagAt == Tag ? Word & ~TagMask : 0);
  }
  /// The bits of an accessor as this cell stores them.
  DEVICE uint64_t encode(Accessor A) const {
    return isCached() ? A.Bits | uint64_t(Tag) << Accessor::TagAt : A.Bits;
  }

  /// Loads both accessors. `IsNear`: a value of the L1 cache is good enough.
  DEVICE Cell load(bool IsNear) const {
    Cell C;
    if (IsNear)
      asm volatile("ld.v2.u64 {%0, %1}, [%2];"
                   : "=l"(C.Writer), "=l"(C.Reader)
                   : "l"(At)
                   : "memory");
    // The shadow of shared memory belongs to this block, so block scope is
    // enough, unless there are clusters.
    else if (IsShared && !hasClusters())
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

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_CELL_H
