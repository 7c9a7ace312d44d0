// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of accesses.
//
// Entry points that check accesses against their cells. Each lane calls for
// itself, and lanes of a warp may call together or apart. `Place` is the
// WarpState::Place of the calling lane's warp, and `Site` the access's site in
// device memory.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_ACCESS_H
#define CRSAN_DEVICE_METADATA_ENTRY_ACCESS_H

#include "metadata/CellCheck.h"

namespace crsan::device {

/// Checks the part of the access that lies in the word at `At` and before
/// `Stop`. `Page` is the shadow of the page for global memory. Returns the
/// address of the next word.
DEVICE Address checkWord(const Check &C, const WarpState &W, PageRef Page,
                         Address At, Address Stop, uint32_t Clock,
                         bool InShared) {
  const Address Word = At & ~Address(3);
  const Address Next = Word + 4 < Stop ? Word + 4 : Stop;
  const CellRef Cell =
      InShared ? sharedCell(W.SharedCells, Word) : Page.cell(Word);
  const Bytes B = bytesOf(uint32_t(At - Word), uint32_t(Next - Word));
  if (Clock + 1 >= Cell.clocks()) {
    storeRelaxed(metadata().IsUsedUp, 1);
    countUnchecked(C.Me);
  } else if (B != Bytes::None) {
    C.word(At, Cell, B);
  }
  return Next;
}

/// The accessor of an access by this lane. `Index` is the index of its site and
/// `Clock` its warp's clock; `Several`: other lanes make the same access;
/// `Strong` and `IsWideSite`: whether the access is strong, and of a scope
/// wider than a block; `Locked`: the lanes of the warp that hold a lock.
DEVICE Accessor accessorOf(const Self &Me, uint32_t Index, uint32_t Clock,
                           bool Several, bool Strong, bool IsWideSite,
                           uint32_t Locked) {
  Accessor Mine = Accessor::make(Index, Me.Lane, Me.number(), Clock);
  if (Several)
    Mine = Mine.several();
  if (Strong)
    Mine = Mine.strong(IsWideSite);
  else if (Locked >> Me.Lane & 1)
    Mine = Mine.locked();
  return Mine;
}

/// If all active lanes access one location, chooses the lane whose access the
/// cell remembers. Lanes of a warp that read one location do not race with each
/// other, and neither do strong updates of one location (iGUARD 6.5).
DEVICE void chooseLane(const Self &Me, Address A, bool &Remembers,
                       bool &Several) {
  const uint32_t All = activeMask();
  const Address First = shuffle(All, A, __builtin_ctz(All));
  const uint32_t Here = activeMask();
  if (!__nvvm_vote_any_sync(Here, First != A)) {
    Several = (Here & (Here - 1)) != 0;
    Remembers = Me.Lane == uint32_t(__builtin_ctz(Here));
  }
}

/// Checks an access, as __crsan_md_check says. What a check needs is inlined
/// here, but for what suspects need (lookCloser): both in one function would
/// take more stack than a thread has (1,024 bytes), and CUDA would provide more
/// when such a kernel is first launched, which takes 0.4 ms.
HELPER void checkAccess(AccessSite *Site, Address A, uint64_t Size,
                        uint64_t Replaced, uint32_t CheckFlags,
                        uint32_t Place) {
  if (!PlaceOf{Place}.isChecked())
    return;
  const Self Me(PlaceOf{Place});
  const bool OnlyReplaced = CheckFlags & CheckReplaced;
  if (CheckFlags & CheckCounts)
    countChecked(Me.warp(), 1);
  if (!(CheckFlags & (CheckReplaced | CheckSuspects)))
    Replaced = 0;
  if (!canRace(A) || Size == 0 || (OnlyReplaced && Replaced == 0))
    return;
  AccessSite &S = *Site;
  const WarpState &W = Me.warp();
  // Load all that the check needs of the warp and the site at once.
  const uint32_t Flags = S.Flags;
  const bool IsWideSite = isWide(S.Scope);
  const uint32_t Clock = loadNear(W.Clock), Barrier = loadNear(W.Barrier);
  const uint32_t Floor = loadNear(W.Floor), Locked = loadNear(W.LockedLanes);
  const uint32_t Index = indexOf(S);
  const bool Strong = isStrongSite(S);
  bool Remembers = true, Several = false;
  // Whether a compare-and-swap writes is not known before it has happened.
  const bool Writes = (Flags & WritesMemory) && !(Flags & IsSwap);
  // If there are suspects, the check in line has noted that.
  if (Strong && (Flags & ReadsMemory) &&
      !(CheckFlags & (CheckReplaced | CheckSuspects)))
    noteRead(Me, A, uint32_t(Size));
  if (!Writes || Strong)
    chooseLane(Me, A, Remembers, Several);
  Remembers &= !(Flags & IsOverwritten);
  const Accessor Mine =
      accessorOf(Me, Index, Clock, Several, Strong, IsWideSite, Locked);
  const bool InShared = spaceOf(A) == Space::Shared;
  const bool IsInFlight = (Flags & IsCopy) && Clock < Accessor::InFlightClocks;
  const Check C{Me,
                S,
                {Me, Barrier, Floor},
                Mine,
                Writes,
                Remembers,
                IsInFlight,
                !OnlyReplaced && takeThorough(Me.warp()),
                (CheckFlags & CheckDrawn) != 0,
                OnlyReplaced,
                Accessor(Replaced)};
  Address At = A;
  const Address End = A + Size;
#pragma unroll 1
  while (At < End) {
    // One page at a time, or all of the access in shared memory.
    const PageRef Page = InShared ? PageRef::none() : PageRef(At);
    const Address PageEnd = (At | (PageBytes - 1)) + 1;
    const Address Stop = InShared || End < PageEnd ? End : PageEnd;
    const bool IsTracked = InShared ? W.SharedCells != 0 : Page.isTracked();
    if (!IsTracked || Index >= MaxSites) {
      countUnchecked(Me);
      At = Stop;
      continue;
    }
#pragma unroll 1
    while (At < Stop)
      At = checkWord(C, W, Page, At, Stop, Clock, InShared);
  }
}

/// Whether an access at site `S` to `A` may be a race that must be looked at,
/// with the accessor `Replaced` or, if `WithOther`, with the other one in the
/// cell. Few of those of quiet pairs must be.
DEVICE bool isNews(const Self &Me, const AccessSite &S, Address A,
                   Accessor Replaced, bool WithOther) {
  const uint32_t Index = loadNear(S.Index);
  const bool InShared = spaceOf(A) == Space::Shared;
  const WarpState &W = Me.warp();
  auto IsNews = [&](Accessor Earlier) {
    if (isOldNews(Index, Earlier))
      return false;
    // Another access of the group may be the suspect one.
    const Quick Test{Me, loadNear(W.Barrier), loadNear(W.Floor)};
    const auto Mine =
        Accessor::make(0, Me.Lane, Me.number(), loadNear(W.Clock));
    return !Test.isOrdered(Earlier, Mine, InShared);
  };
  if (IsNews(Replaced))
    return true;
  if (!WithOther)
    return false;
  const CellRef C =
      InShared ? sharedCell(W.SharedCells, A) : PageRef(A).cell(A);
  const bool Writes = S.Flags & WritesMemory;
  const Cell Found = C.load(/*IsNear=*/!Writes);
  return IsNews(C.decode(Writes ? Found.Reader : Found.Writer));
}

/// Entry point. Checks an access of `Size` bytes at `A`, in each word that the
/// bytes touch, and writes it into the cells. The access is about to happen or
/// has just happened, with no synchronization in between. `Flags` are
/// CheckFlags. `Replaced`: with CheckReplaced or CheckSuspects, the accessor
/// that a write has already replaced in its cell, or 0.
ENTRY void __crsan_md_check(AccessSite *Site, uint64_t A, uint64_t Size,
                            uint64_t Replaced, uint32_t Flags, uint32_t Place) {
  if (Flags & CheckSuspects) {
    // Most accesses that come here again and again are of quiet pairs. They
    // return before checkAccess sets up its stack.
    if ((Flags & CheckDrawn) || drawsOne())
      Flags |= CheckDrawn;
    else if (!isNews(Self(PlaceOf{Place}), *Site, A, Accessor(Replaced),
                     Flags & CheckOthers))
      return;
    Size = Size < 4 ? Size : 4;
  } else if (Flags & CheckLaterWord) {
    return;
  }
  checkAccess(Site, A, Size, Replaced, Flags, Place);
}

/// Entry points. What the check in line of an access leaves to the runtime: as
/// __crsan_md_check, of all words of an access that does not write, ...
ENTRY void __crsan_md_check_read(AccessSite *Site, uint64_t A, uint32_t Flags,
                                 uint32_t Place) {
  const uint32_t Size = Site->Size;
  if (!(Flags & CheckSuspects))
    return __crsan_md_check(Site, A, Size, 0, Flags, Place);
#pragma unroll 1
  for (uint32_t Byte = 0; Byte < Size; Byte += 4)
    __crsan_md_check(Site, A + Byte, Size, 0, Flags, Place);
}
/// ... and of one word of a write.
ENTRY void __crsan_md_check_write(AccessSite *Site, uint64_t A,
                                  uint64_t Replaced, uint32_t Flags,
                                  uint32_t Place) {
  __crsan_md_check(Site, A, Site->Size, Replaced, Flags, Place);
}

/// Entry point. `Size` bytes at `A` have just been allocated by malloc, or `A`
/// is null. The former owner has freed the memory, which no synchronization of
/// the program shows, so the cells of the memory forget the past. Blocks of the
/// heap share no word.
ENTRY void __crsan_md_allocated(uint64_t A, uint64_t Size, uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed() || A == 0)
    return;
  const Address End = A + Size;
#pragma unroll 1
  for (Address Word = A & ~Address(3); Word < End;) {
    const Address PageEnd = (Word | (PageBytes - 1)) + 1;
    const Address Stop = End < PageEnd ? End : PageEnd;
    const PageRef Page(Word);
    if (!Page.isTracked()) {
      Word = Stop;
      continue;
    }
#pragma unroll 1
    for (; Word < Stop; Word += 4) {
      const CellRef C = Page.cell(Word);
      const Cell Found = C.load(/*IsNear=*/false);
      const bool HasWriter = !C.decode(Found.Writer).isNobody();
      const bool HasReader = !C.decode(Found.Reader).isNobody();
      if (HasWriter)
        storeRelaxed(C.At->Writer, 0);
      if (HasReader)
        storeRelaxed(C.At->Reader, 0);
      // An accessor leaves an exact cell only when another takes its place, so
      // an exact cell that is empty has no victims.
      if (HasWriter || HasReader || C.isCached())
        Victims(Word).forget();
    }
  }
}

/// Entry point. A compare-and-swap at `A` is about to happen. Returns the
/// reader in the word's cell if the compare-and-swap would race with it, else
/// 0. The caller passes the result to __crsan_md_check as `Replaced` if the
/// swap writes.
ENTRY uint64_t __crsan_md_swap_reader(AccessSite *Site, uint64_t A,
                                      uint32_t Place) {
  if (!PlaceOf{Place}.isChecked() || !canRace(A))
    return 0;
  AccessSite &S = *Site;
  const Self Me(PlaceOf{Place});
  const WarpState &W = Me.warp();
  const bool InShared = spaceOf(A) == Space::Shared;
  const PageRef Page = InShared ? PageRef::none() : PageRef(A);
  const uint32_t Index = indexOf(S);
  if (!(InShared ? W.SharedCells != 0 : Page.isTracked()) || Index >= MaxSites)
    return 0;
  const Address Word = A & ~Address(3);
  const CellRef C =
      InShared ? sharedCell(W.SharedCells, Word) : Page.cell(Word);
  const uint32_t InWord = uint32_t(A - Word) + S.Size;
  const Accessor Mine =
      Accessor::make(Index, Me.Lane, Me.number(), loadNear(W.Clock))
          .strong(isWide(S.Scope))
          .with(bytesOf(uint32_t(A - Word), InWord < 4 ? InWord : 4));
  const Accessor Reader = C.decode(C.load(/*IsNear=*/false).Reader);
  const Quick Test{Me, loadNear(W.Barrier), loadNear(W.Floor)};
  const bool IsClear =
      Test.isOrdered(Reader, Mine, InShared) || !isSuspect(Me, Mine, Reader);
  return IsClear ? 0 : Reader.Bits;
}

/// A compare-and-swap at `A` has succeeded: writes it into the cell as a write.
/// Only the readers from before the swap are judged (__crsan_md_swap_reader),
/// since a reader that came meanwhile may be ordered after the swap.
HELPER void rememberSwap(PlaceOf Place, AccessSite &S, Address A) {
  const Self Me(Place);
  const WarpState &W = Me.warp();
  const Quick Test{Me, loadNear(W.Barrier), loadNear(W.Floor)};
  const uint32_t Clock = loadNear(W.Clock), Index = indexOf(S);
  const bool InShared = spaceOf(A) == Space::Shared;
  const Address End = A + S.Size;
#pragma unroll 1
  for (Address Next; A < End; A = Next) {
    const Address Word = A & ~Address(3);
    Next = Word + 4 < End ? Word + 4 : End;
    const PageRef Page = InShared ? PageRef::none() : PageRef(A);
    const bool IsTracked = InShared ? W.SharedCells != 0 : Page.isTracked();
    if (!IsTracked || Index >= MaxSites)
      continue;
    const CellRef C =
        InShared ? sharedCell(W.SharedCells, Word) : Page.cell(Word);
    const Bytes B = bytesOf(uint32_t(A - Word), uint32_t(Next - Word));
    if (Clock + 1 >= C.clocks() || B == Bytes::None)
      continue;
    const Accessor Now = Accessor::make(Index, Me.Lane, Me.number(), Clock)
                             .strong(isWide(S.Scope))
                             .with(B);
    const Accessor Writer = C.decode(C.load(/*IsNear=*/false).Writer);
    // A weak write that nothing orders before the swap may have come since the
    // check in front of the swap. It stays in the cell, where the next
    // accesses of the word find it.
    const bool IsRacing = !Writer.isNobody() && !Writer.isStrong() &&
                          (maskOf(Writer.bytes()) & maskOf(B)) &&
                          !Test.isOrdered(Writer, Now, InShared) &&
                          judge(Me.Place, Writer.Bits) != Order::Ordered;
    if (!IsRacing && !keepsWriter(Writer, Now, Test.Floor))
      C.setWriter(Now);
  }
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ENTRY_ACCESS_H
