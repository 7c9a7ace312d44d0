//===- Accesses.h - The check of an access ---------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_ACCESSES_H
#define CRSAN_DEVICE_METADATA_ACCESSES_H

#include "metadata/CellCheck.h"

namespace crsan::device {

/// Whether a check of this warp is one of its thorough ones.
DEVICE bool takeThorough(WarpState &W) {
  if (!(loadNear(W.Place) & NeedsCare))
    return false;
  const uint32_t Left = loadNear(W.Thorough);
  if (Left && isFirstHere()) {
    const uint32_t Here = __builtin_popcount(activeMask());
    W.Thorough = Left > Here ? Left - Here : 0;
    if (Left <= Here && !isUsedUp(loadNear(W.Clock)) &&
        !(__crsan_config.Flags & WeakVolatile))
      clearFlags(W.Place, NeedsCare);
  }
  return Left != 0;
}

DEVICE void countUnchecked(const Self &Me) {
  __nvvm_atom_add_gen_ll(reinterpret_cast<long long *>(&Me.warp().Unchecked),
                         1);
}

/// Counts `Number` accesses of each lane that is here.
DEVICE void countChecked(WarpState &W, uint32_t Number) {
  auto Add = [&](uint64_t Accesses) {
    asm volatile("red.relaxed.gpu.add.u64 [%0], %1;" ::"l"(&W.Checked),
                 "l"(Accesses)
                 : "memory");
  };
  // One exchange, with a fresh mask: lanes may part at any time.
  const uint32_t Here = activeMask();
  uint32_t Equal;
  asm volatile("{ .reg .pred p; .reg .b32 m; match.all.sync.b32 m|p, %1, %2; "
               "selp.b32 %0, m, 0, p; }"
               : "=r"(Equal)
               : "r"(Number), "r"(Here)
               : "memory");
  if (Equal == 0)
    Add(Number);
  else if (lane() == uint32_t(__builtin_ctz(Equal)))
    Add(uint64_t(Number) * __builtin_popcount(Equal));
}

} // namespace crsan::device

/// An access of `Size` bytes, in all the words that they are in: it is about to
/// happen, or has just happened. `Flags` are CheckFlags, and `Replaced` what is
/// no longer in the cell of a word. All that it needs is in it, once: what it
/// comes to, suspects come to nearly always.
ENTRY void __crsan_md_check(crsan::abi::AccessSite *Site, uint64_t A,
                            uint64_t Size, uint64_t Replaced,
                            uint32_t CheckFlags, uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const bool IsReplaced = CheckFlags & CheckReplaced;
  if (CheckFlags & CheckCounts)
    countChecked(Me.warp(), 1);
  if (!canRace(A) || Size == 0 || (IsReplaced && Replaced == 0))
    return;
  AccessSite &S = *Site;
  const WarpState &W = Me.warp();
  // Whatever this needs of the warp, the site and the page, at once.
  const uint32_t Flags = S.Flags;
  const bool IsWideSite = isWide(S.Scope);
  const uint32_t Clock = loadNear(W.Clock), Barrier = loadNear(W.Barrier);
  const uint32_t Floor = loadNear(W.Floor), Locked = loadNear(W.LockedLanes);
  const uint32_t Index = indexOf(S);
  const bool Strong = isStrongSite(S);
  // Lanes of a warp that read one location do not race with each other, and
  // neither do strong updates: one of them is remembered (iGUARD 6.5).
  bool Remembers = true, Several = false;
  // Whether a compare-and-swap writes is not known yet.
  const bool Writes = (Flags & WritesMemory) && !(Flags & IsSwap);
  if (!Writes || Strong) {
    const uint32_t All = activeMask();
    const Address First = shuffle(All, A, __builtin_ctz(All));
    const uint32_t Here = activeMask();
    if (!__nvvm_vote_any_sync(Here, First != A)) {
      Several = (Here & (Here - 1)) != 0;
      Remembers = Me.Lane == uint32_t(__builtin_ctz(Here));
    }
  }
  Remembers &= !(Flags & IsOverwritten);
  Accessor Mine = Accessor::make(Index, Me.Lane, Me.number(), Clock);
  if (Several)
    Mine = Mine.several();
  if (Strong)
    Mine = Mine.strong(IsWideSite);
  else if (Locked >> Me.Lane & 1)
    Mine = Mine.locked();
  const bool InShared = spaceOf(A) == Space::Shared;
  const bool IsInFlight = (CheckFlags & CheckInFlight) && InShared &&
                          Clock < Accessor::InFlightClocks;
  const Check C{Me,
                S,
                {Me, Barrier, Floor},
                Mine,
                Writes,
                Remembers,
                IsInFlight,
                !IsReplaced && takeThorough(Me.warp()),
                IsReplaced,
                Accessor(Replaced)};
  Address At = A;
  const Address End = A + Size;
#pragma unroll 1
  while (At < End) {
    // A page at a time, or all of it in shared memory.
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
    while (At < Stop) {
      const Address Word = At & ~Address(3);
      const Address Next = Word + 4 < Stop ? Word + 4 : Stop;
      const CellRef Cell =
          InShared ? sharedCell(W.SharedCells, Word) : Page.cell(Word);
      const Bytes B = bytesOf(uint32_t(At - Word), uint32_t(Next - Word));
      if (Clock + 1 >= Cell.clocks()) {
        storeRelaxed(metadata().IsUsedUp, 1);
        countUnchecked(Me);
      } else if (B != Bytes::None) {
        C.word(At, Cell, B);
      }
      At = Next;
    }
  }
}

/// `Size` bytes at `A` come from malloc, or it had none. Whoever had them
/// before has given them back, and nothing in the program says so: their past
/// ends. Blocks of the heap share no word.
ENTRY void __crsan_md_allocated(uint64_t A, uint64_t Size, uint32_t Place) {
  using namespace crsan::device;
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
      // Who is forgotten by a cell of the word's own was followed by another.
      if (HasWriter || HasReader || C.isCached())
        Victims(Word).forget();
    }
  }
}

/// Who has read the word at `A`, of those with whom a compare-and-swap that is
/// about to happen would race; 0: nobody.
ENTRY uint64_t __crsan_md_swap_reader(crsan::abi::AccessSite *Site, uint64_t A,
                                      uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed() || !canRace(A))
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

namespace crsan::device {

/// A compare-and-swap has written. It is judged as a write against who had read
/// before it (__crsan_md_swap_reader), and no more: who has read meanwhile may
/// have come after it.
HELPER void rememberSwap(PlaceOf Place, AccessSite &S, Address A) {
  const Self Me(Place);
  const WarpState &W = Me.warp();
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
                             .strong(isWide(S.Scope));
    if (!keepsWriter(C.decode(C.load(false).Writer), Now.with(B),
                     loadNear(W.Floor)))
      C.setWriter(Now.with(B));
  }
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ACCESSES_H
