// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The metadata check that is inlined.
//
// Nearly every access is of what a register holds, in a page with exact cells,
// and its cells name only accessors of the past: of an earlier grid, or of the
// time before the block's last barrier. The functions of this file find that
// out. The pass calls them where the access is and inlines them, since a call
// would cost several times as much; whatever they cannot decide is left to
// __crsan_md_check.
//
// `Shape` is a constant (abi::ShapeBits). The pass compiles a copy of each
// function for each shape (lib/Transforms/DeviceRuntime.h), so that tests of
// the shape cost nothing.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_INLINE_H
#define CRSAN_DEVICE_METADATA_ENTRY_INLINE_H

#include "metadata/entry/InLineWarp.h"

namespace crsan::device {

/// The two accessors of a cell.
struct Accessors {
  uint64_t Writer, Reader;
};

/// Where the first cell of an access is.
struct CellAt {
  uint64_t At;
  bool InShared;
  /// The cell may be elsewhere, or there may be none: the runtime must look.
  bool IsElsewhere;
};

/// The pages that an access of a loop was last found in: Number pages from page
/// First on, and what leads from four times an address to its cell.
struct FoundPages {
  uint32_t First, Number;
  uint64_t Delta;
};

/// Whether only threads of this block can make accesses of this shape to the
/// same bytes.
DEVICE bool isOfBlockAlone(uint32_t Shape) {
  return !(Shape & (ShapeMayBeGlobal | ShapeClusters));
}

/// Stores one word of a cell if `Condition` holds. A shared location is its
/// block's alone.
DEVICE void storeIf(bool Condition, uint64_t At, uint64_t What,
                    uint32_t Shape) {
  if (!isOfBlockAlone(Shape))
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %0, 0; "
        "@p st.relaxed.gpu.global.u64 [%1], %2; }" ::"r"(uint32_t(Condition)),
        "l"(At), "l"(What)
        : "memory");
  else
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %0, 0; "
        "@p st.relaxed.cta.global.u64 [%1], %2; }" ::"r"(uint32_t(Condition)),
        "l"(At), "l"(What)
        : "memory");
}

} // namespace crsan::device

/// Where the cells of the access at `A` are. `Pages`: the page table.
/// `SharedCells`: WarpState::SharedCells.
INLINE_ENTRY crsan::device::CellAt __crsan_in_locate(uint64_t Pages,
                                                     uint64_t SharedCells,
                                                     uint32_t Place, uint64_t A,
                                                     uint32_t Shape) {
  using namespace crsan::device;
  CellAt C = {0, !(Shape & ShapeMayBeGlobal), false};
  uint64_t SharedCell = 0;
  if (Shape & ShapeMayBeShared) {
    uint32_t Offset;
    if (Shape & ShapeMayBeGlobal) {
      C.InShared = isOwnShared(A);
      Offset = sharedOffset(A);
    } else {
      Offset = uint32_t(reinterpret_cast<uint64_t>((__attribute__((
          address_space(3))) char *)reinterpret_cast<char *>(A)));
    }
    if ((Shape & ShapeSize) < 4)
      Offset &= ~3u;
    SharedCell = SharedCells + (Offset << 2);
    C.IsElsewhere = SharedCells == 0;
    C.At = SharedCell;
    if (!(Shape & ShapeMayBeGlobal))
      return C;
  }
  // If care is needed, and where there is no table, the first entry is empty.
  constexpr uint64_t IndexMask = uint64_t(NumPages - 1) << 3;
  const uint64_t Mask = int32_t(Place) < 0 ? 0 : IndexMask;
  uint64_t Entry;
  asm volatile("ld.global.u64 %0, [%1];"
               : "=l"(Entry)
               : "l"(Pages + (A >> (PageShift - 3) & Mask))
               : "memory");
  // An exact page, of this very address: pageTag().
  constexpr unsigned TagAt = PageTagAt - 32;
  const uint32_t Tag =
      (highHalf(A) << (TagAt - (PageShift + PageIndexBits - 32))) +
      (1u << TagAt);
  const bool IsOther = ((highHalf(Entry) ^ Tag) & ~0u << TagAt) != 0;
  // A cell is four times as far from the page's first cell as its word is from
  // the beginning of the page.
  const uint64_t Cells = Entry & ((uint64_t(1) << PageTagAt) - 4096);
  const uint64_t Word = (Shape & ShapeSize) < 4 ? A & ~uint64_t(3) : A;
  const uint64_t Cell = Cells - ((A & ~(PageBytes - 1)) << 2) + (Word << 2);
  C.At = C.InShared ? SharedCell : Cell;
  C.IsElsewhere = C.InShared ? C.IsElsewhere : IsOther;
  return C;
}

/// As above, of an access of a loop that moves through global memory: the page
/// table is read once for a run of pages. Here the pages of `A`, if they are
/// not the last ones; ...
INLINE_ENTRY crsan::device::FoundPages
__crsan_in_find(uint64_t A, uint32_t First, uint32_t Number, uint64_t Delta) {
  using namespace crsan::device;
  // A call, since ptxas would make code of what every iteration skips.
  if (__builtin_expect(uint32_t(A >> PageShift) - First >= Number, false)) {
    const PageRange Now = __crsan_md_pages_from(A);
    return {lowHalf(Now[0]), highHalf(Now[0]), Now[1]};
  }
  return {First, Number, Delta};
}
/// ... and here its cell.
INLINE_ENTRY crsan::device::CellAt
__crsan_in_locate_found(uint64_t A, uint32_t First, uint32_t Number,
                        uint64_t Delta, uint32_t Shape) {
  const uint64_t Word =
      (Shape & crsan::abi::ShapeSize) < 4 ? A & ~uint64_t(3) : A;
  return {Delta + (Word << 2), false,
          uint32_t(A >> crsan::abi::PageShift) - First >= Number};
}

/// Of accesses that lie from `Least` to `Most` bytes from the one at `A`, whose
/// page was found: whether one of them is in another page.
INLINE_ENTRY bool __crsan_in_is_split(uint64_t A, uint32_t Least, uint32_t Most,
                                      bool InShared, uint32_t Shape) {
  using namespace crsan::device;
  const uint32_t Offset = uint32_t(A) & (PageBytes - 1);
  const bool IsSplit = ((Offset + Least) | (Offset + Most)) >= PageBytes;
  return Shape & ShapeMayBeShared ? IsSplit & !InShared : IsSplit;
}

/// Several, if lanes are here together; they read one location.
INLINE_ENTRY uint64_t __crsan_in_several() {
  const uint32_t Here = crsan::device::activeMask();
  return (Here & (Here - 1)) == 0 ? 0 : crsan::abi::AccessorLayout::Several;
}

/// This access, as a cell remembers it. `Number`: AccessSite::Number.
INLINE_ENTRY uint64_t __crsan_in_accessor(uint64_t First, uint32_t Number,
                                          uint64_t A, uint64_t Several,
                                          uint32_t Shape) {
  using namespace crsan::device;
  uint64_t Mine = First | uint64_t(Number) << AccessorLayout::SiteAt | Several;
  if (Shape & ShapeStrong)
    Mine = (Mine & ~AccessorLayout::WideOrLocked) | AccessorLayout::Strong |
           (Shape & ShapeWide ? AccessorLayout::WideOrLocked : 0);
  if (Shape & ShapeInFlight)
    return (Mine & ~AccessorLayout::WideOrLocked) | AccessorLayout::InFlight;
  // As Bytes has them.
  if ((Shape & ShapeSize) == 1)
    Mine |= ((A & 3) + 1) << AccessorLayout::BytesAt;
  if ((Shape & ShapeSize) == 2)
    Mine |= ((A & 3) / 2 + 5) << AccessorLayout::BytesAt;
  return Mine;
}

/// What the cell at `At` says; a weak write is in it from now on.
INLINE_ENTRY crsan::device::Accessors
__crsan_in_look(uint64_t At, uint64_t Mine, uint32_t Shape) {
  using namespace crsan::device;
  Accessors Found;
  const bool IsShared = isOfBlockAlone(Shape);
  if ((Shape & ShapeWrites) && !(Shape & ShapeStrong)) {
    if (IsShared) {
      asm volatile("atom.relaxed.cta.global.exch.b64 %0, [%1], %2;"
                   : "=l"(Found.Writer)
                   : "l"(At), "l"(Mine)
                   : "memory");
      asm volatile("ld.relaxed.cta.global.u64 %0, [%1];"
                   : "=l"(Found.Reader)
                   : "l"(At + 8)
                   : "memory");
    } else {
      asm volatile("atom.relaxed.gpu.global.exch.b64 %0, [%1], %2;"
                   : "=l"(Found.Writer)
                   : "l"(At), "l"(Mine)
                   : "memory");
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                   : "=l"(Found.Reader)
                   : "l"(At + 8)
                   : "memory");
    }
    return Found;
  }
  // For a weak read, what the multiprocessor's cache says will do: a write that
  // the cache hides finds this read in the cell instead. Strong reads wait for
  // what others write.
  if (!(Shape & ShapeStrong))
    asm volatile("ld.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(Found.Writer), "=l"(Found.Reader)
                 : "l"(At)
                 : "memory");
  else if (IsShared)
    asm volatile("ld.relaxed.cta.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(Found.Writer), "=l"(Found.Reader)
                 : "l"(At)
                 : "memory");
  else
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(Found.Writer), "=l"(Found.Reader)
                 : "l"(At)
                 : "memory");
  return Found;
}

/// The glance: whether all accessors with which the access can race are of the
/// past.
INLINE_ENTRY bool __crsan_in_is_old(uint64_t Writer, uint64_t Reader,
                                    uint32_t Barrier, uint32_t Floor,
                                    bool InShared, uint32_t Shape) {
  using namespace crsan::device;
  const uint32_t Past = !(Shape & ShapeMayBeShared) || (Shape & ShapeClusters)
                            ? Floor
                        : !(Shape & ShapeMayBeGlobal) ? Barrier
                        : InShared                    ? Barrier
                                                      : Floor;
  const bool IsOld = highHalf(Writer) < Past;
  return Shape & ShapeWrites ? IsOld & (highHalf(Reader) < Past) : IsOld;
}

/// Whether a word's cell does as well with the reader that it has as with this
/// one. Of readers that nothing orders, the one with the largest hash stays, so
/// that many readers write little and none is preferred. `First`: what all
/// accesses of the function have in common (Snapshot::Mine).
INLINE_ENTRY bool __crsan_in_is_kept(uint64_t First, uint64_t Mine,
                                     uint32_t Place, uint64_t Reader,
                                     bool InShared, uint32_t Shape) {
  using namespace crsan::device;
  // Of the thread and the clock.
  auto Hash = [](uint64_t A) {
    static_assert(AccessorLayout::BytesAt == 20);
    return highHalf(A) * 0x9e3779b1u + lowHalf(A) * 0x85ebd000u;
  };
  // Equal in the bytes and, since a strong access does not accuse all that a
  // weak one does, in being weak.
  uint32_t Equal = uint32_t(
      AccessorLayout::BytesMask |
      (Shape & ShapeStrong ? uint64_t(0) : uint64_t(AccessorLayout::Strong)));
  uint32_t Change = lowHalf(Reader) ^ lowHalf(First);
  if ((Shape & ShapeSize) < 4 || (Shape & ShapeInFlight))
    Change ^= lowHalf(Mine ^ First);
  // An accessor of another block is from before the memory was this block's.
  if (Shape & ShapeMayBeShared) {
    if (!(Shape & ShapeMayBeGlobal) || InShared)
      Equal |= otherBlockBits(Place);
  }
  const uint32_t Clock = highHalf(First) & ~0u << ClockShift;
  const bool IsAlike = (Change & Equal) == 0, IsNew = highHalf(Reader) >= Clock,
             IsLarger = Hash(Reader) >= Hash(First);
  return IsAlike & IsNew & IsLarger;
}
/// Remembers a read in its cell, unless the cell need not.
INLINE_ENTRY void __crsan_in_remember(uint64_t At, uint64_t Mine, bool IsKept,
                                      uint32_t Shape) {
  crsan::device::storeIf(!IsKept, At + 8, Mine, Shape);
}

/// A strong access notes where it reads, as noteRead() in Seen.h.
INLINE_ENTRY void __crsan_in_note_read(uint64_t State, uint64_t A,
                                       uint64_t Mine, uint32_t Barrier,
                                       uint64_t Pages, uint32_t Shape) {
  using namespace crsan::device;
  asm volatile("{ .reg .pred p; .reg .b64 s; "
               "ld.global.u64 s, [%0]; not.b64 s, s; "
               "and.b64 s, s, %1; setp.ne.u64 p, s, 0; "
               "@p red.relaxed.gpu.global.or.b64 [%0], %1; }" ::"l"(
                   State + offsetof(WarpState, Seen)),
               "l"(uint64_t(1) << seenBit(A))
               : "memory");
  const uint32_t Who = lowHalf(Mine);
  const uint64_t Lanes =
      Pages + (LanesAt - PagesAt) +
      uint64_t(Who >> AccessorLayout::WarpAt & NumWarps - 1) *
          sizeof(LaneStates);
  asm volatile("{ .reg .pred p; .reg .b32 had, since, now; "
               "ld.global.v2.u32 {had, since}, [%0]; "
               "setp.eq.u32 p, since, %1; selp.b32 had, had, 0, p; "
               "or.b32 now, had, %2; setp.ne.u32 p, now, had; "
               "@p st.global.v2.u32 [%0], {now, %1}; }" ::"l"(
                   Lanes + offsetof(LaneStates, Seen) + (Who & 31) * 8),
               "r"(Barrier), "r"(seenWords(A, Shape & ShapeSize))
               : "memory");
}
/// A strong access notes in the cell at `At` that it writes (keepsWriter).
INLINE_ENTRY void __crsan_in_note_write(uint64_t At, uint64_t Mine,
                                        uint32_t Floor, uint64_t Writer,
                                        uint32_t Shape) {
  using namespace crsan::device;
  const uint64_t Change = Writer ^ Mine;
  const bool IsOld =
      ((Change & (AccessorLayout::Strong | AccessorLayout::SiteMask)) == 0) &
      (highHalf(Writer) >= Floor);
  const bool IsWeaker =
      ((Change ^ AccessorLayout::Strong) &
       (AccessorLayout::WhoAndWhen | AccessorLayout::Strong)) == 0;
  storeIf(!(IsOld | IsWeaker), At, Mine, Shape);
}

/// From which clock on, shifted, an accessor with this block's numbers is this
/// block's: an earlier block of the grid may have had them. `Clock`: where this
/// warp began, or later. The warps of a block begin at one clock as a rule;
/// where one began later than this warp, an access of an earlier block may
/// count as ordered.
INLINE_ENTRY uint32_t __crsan_in_start(uint32_t Clock, uint32_t Place) {
  using namespace crsan::device;
  return Place & SharesNumber ? Clock << ClockShift : 0;
}

/// The closer look: whether an accessor is surely ordered before the access
/// (Quick::isOrdered in HappensBefore.h), or is strong as the access is (P6).
/// `Start`: of __crsan_in_start().
INLINE_ENTRY bool __crsan_in_is_ordered(uint64_t First, uint32_t Place,
                                        uint32_t Barrier, uint32_t Floor,
                                        uint32_t Met, uint64_t Mine,
                                        uint64_t Earlier, bool InShared,
                                        uint32_t Start, uint64_t Pages,
                                        uint32_t Shape) {
  using namespace crsan::device;
  const uint32_t Low = lowHalf(Earlier), High = highHalf(Earlier);
  const bool IsOurs = !(Shape & ShapeMayBeGlobal) || High >= Start;
  const uint32_t Ours = Shape & ShapeInFlight ? lowHalf(First) : lowHalf(Mine);
  const bool IsSelf = ((Low ^ Ours) & uint32_t(AccessorLayout::Who |
                                               AccessorLayout::Several)) == 0;
  // No operators of short circuit: these become branches, which are longer than
  // what they skip.
  const bool IsAlone = isOfBlockAlone(Shape) && (Shape & ShapeBarriers);
  const uint32_t Past = IsAlone && Barrier > Floor ? Barrier : Floor;
  bool IsOrdered = bool((High < Past) | (IsSelf & IsOurs));
  bool InBlock = false;
  if (Shape & (ShapeMayBeShared | ShapeBarriers | ShapeStrong)) {
    const bool HasNumber = isInBlock(Place, Low);
    InBlock = bool(HasNumber & IsOurs);
    const bool IsBefore = (Shape & ShapeBarriers) && High < Barrier;
    // An accessor of another block was there before the shared memory was this
    // block's. One with this block's numbers may be of a warp of this block
    // that began before this warp.
    IsOrdered =
        bool(IsOrdered | (!(Shape & ShapeMayBeShared) || (Shape & ShapeClusters)
                              ? InBlock & IsBefore
                          : !(Shape & ShapeMayBeGlobal) ? !HasNumber
                          : InShared                    ? !HasNumber | IsBefore
                                                        : InBlock & IsBefore));
  }
  // All lanes of the warp have met since (haveMet).
  if (Shape & ShapeMeetings)
    IsOrdered =
        IsOrdered ||
        (((Low ^ lowHalf(First)) &
          uint32_t(AccessorLayout::Who & ~AccessorLayout::LaneMask)) == 0 &&
         High < Met && IsOurs);
  // What its warp had done by then has reached this one (isOrderedNear). Of the
  // own warp that says nothing of a lane.
  if (Shape & ShapeLocks) {
    const uint32_t Own = PlaceOf{Place}.warp();
    const uint32_t Theirs = Low >> AccessorLayout::WarpAt & (NumWarps - 1);
    const uint32_t Known =
        loadGlobal(Pages + (KnownAt - PagesAt) +
                   ((Own * KnownEntries + knownEntry(Theirs)) << 2));
    IsOrdered = IsOrdered || ((High >> ClockShift) < Known && Theirs != Own);
  }
  if (!(Shape & ShapeStrong))
    return IsOrdered;
  const bool IsNear =
      InBlock || ((Shape & ShapeWide) &&
                  (Low & uint32_t(AccessorLayout::WideOrLocked)) != 0);
  return IsOrdered || ((Low & uint32_t(AccessorLayout::Strong)) != 0 && IsNear);
}

#endif // CRSAN_DEVICE_METADATA_ENTRY_INLINE_H
