// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The check in line, as a function.
//
// In a function with very many accesses the pass calls this function where it
// would else inline a check (lib/Transforms/Metadata/FastCheck.h): compilers
// take too long for the inlined checks.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_QUICKCHECK_H
#define CRSAN_DEVICE_METADATA_ENTRY_QUICKCHECK_H

#include "metadata/entry/Access.h"
#include "metadata/entry/InLine.h"

namespace crsan::device {

/// `Kind`: ShapeReads or ShapeWrites. The others are as of
/// __crsan_md_quick_check.
template <uint32_t Kind>
DEVICE void checkQuickly(AccessSite *Site, uint64_t A, uint64_t First,
                         uint32_t Shape, uint32_t Place) {
  // All that may be, but for what would make the check decide otherwise. A
  // size of 1 is right for all: the word of the address is looked for.
  const uint32_t Any = Kind | 1 | ShapeMayBeShared | ShapeMayBeGlobal |
                       ShapeBarriers | ShapeMeetings | ShapeLocks |
                       (Shape & ShapeClusters);
  const uint32_t Size = Shape & ShapeSize;
  const uint64_t Pages = __crsan_config.Metadata + PagesAt;
  const WarpState &W = Self::stateOf(PlaceOf{Place}.warp());
  const bool IsCareful = int32_t(Place) < 0 || (A & (Size - 1)) != 0;
  const CellAt C = IsCareful
                       ? CellAt{0, false, true}
                       : __crsan_in_locate(Pages, W.SharedCells, Place, A, Any);
  if (C.IsElsewhere)
    return __crsan_md_check(Site, A, Size, 0, 0, Place);
  const uint32_t Barrier = loadNear(W.Barrier) << ClockShift,
                 Floor = loadNear(W.Floor) << ClockShift;
  const uint64_t Several = Shape & ShapeUniform ? __crsan_in_several() : 0;
  const uint64_t Mine =
      __crsan_in_accessor(First, Site->Number, A, Several, Kind | Size);
  auto IsOrdered = [&](uint64_t Earlier) {
    const uint32_t Start = __crsan_in_start(loadNear(W.Start), Place);
    const uint32_t Met = loadNear(W.Met) << ClockShift;
    return __crsan_in_is_ordered(First, Place, Barrier, Floor, Met, Mine,
                                 Earlier, C.InShared, Start, Pages, Any);
  };
#pragma unroll 1
  for (uint32_t Byte = 0; Byte < Size; Byte += 4) {
    const uint64_t At = C.At + Byte / 4 * sizeof(Cell);
    const Accessors Found = __crsan_in_look(At, Mine, Any);
    if (Kind == ShapeReads && !(Site->Flags & IsOverwritten))
      __crsan_in_remember(
          At, Mine,
          __crsan_in_is_kept(First, Mine, Place, Found.Reader, C.InShared, Any),
          Any);
    if (__crsan_in_is_old(Found.Writer, Found.Reader, Barrier, Floor,
                          C.InShared, Any))
      continue;
    const bool Writes = Kind == ShapeWrites;
    const uint64_t Other = Writes ? Found.Reader : Found.Writer;
    const bool IsOtherOrdered = IsOrdered(Other);
    const bool IsWriterOrdered = !Writes || IsOrdered(Found.Writer);
    if (IsOtherOrdered && IsWriterOrdered)
      continue;
    auto IsKnown = [&](uint64_t Earlier) {
      return isOldNews(Accessor(Mine).site(), Accessor(Earlier));
    };
    uint32_t Drawn = 0;
    if ((IsOtherOrdered || IsKnown(Other)) &&
        (IsWriterOrdered || IsKnown(Found.Writer))) {
      if (!drawsOne())
        continue;
      Drawn = CheckDrawn;
    }
    __crsan_md_check(Site, A + Byte, Size, Writes ? Found.Writer : 0,
                     CheckSuspects | (IsOtherOrdered ? 0 : CheckOthers) | Drawn,
                     Place);
  }
}

/// Entry point. Checks a weak access at `A` of the size that `Shape` has
/// (ShapeBits) as a check in line would. `First`: Snapshot::Mine. The access is
/// about to happen or has just happened, with no synchronization in between.
HOT_ENTRY void __crsan_md_quick_check(AccessSite *Site, uint64_t A,
                                      uint64_t First, uint32_t Shape,
                                      uint32_t Place) {
  if (Shape & ShapeWrites)
    checkQuickly<ShapeWrites>(Site, A, First, Shape, Place);
  else
    checkQuickly<ShapeReads>(Site, A, First, Shape, Place);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ENTRY_QUICKCHECK_H
