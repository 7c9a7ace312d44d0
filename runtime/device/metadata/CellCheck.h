//===- CellCheck.h - An access against one cell ----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_CELLCHECK_H
#define CRSAN_DEVICE_METADATA_CELLCHECK_H

#include "metadata/Victims.h"

namespace crsan::device {

/// Whether a closer look than Quick's is worth its while.
DEVICE bool isSuspect(const Self &Me, Accessor Mine, Accessor Earlier,
                      bool IsThorough = false) {
  // Who accesses other bytes may yet meet a victim (lookCloser).
  if (!(maskOf(Earlier.bytes()) & maskOf(Mine.bytes())))
    return true;
  // P6.
  if (Earlier.isWide() && Mine.isWide())
    return false;
  return !isOrderedNear(Me, Earlier, IsThorough);
}

/// How the access of `A` by this thread, now, races with one that conflicts
/// with it if their bytes overlap; Ordered: it does not.
DEVICE Order raceWith(const Self &Me, const AccessSite &S, Address A,
                      Accessor Mine, Accessor Earlier) {
  if (!(maskOf(Earlier.bytes()) & maskOf(Mine.bytes())))
    return Order::Ordered;
  // This very copy, which another thread has found in the cell meanwhile.
  if (Earlier.isInFlight() && Earlier.made() == Mine.clock() &&
      Earlier.site() == Mine.site() && Earlier.warp() == Me.number() &&
      Earlier.lane() == Me.Lane)
    return Order::Ordered;
  // A shared location is one block's.
  if (spaceOf(A) == Space::Shared &&
      Me.placeOf(Earlier.warp()) >= Me.warpsInBlock())
    return Order::Ordered;
  const Order How = judge(Me, Earlier);
  if (How == Order::Ordered)
    return How;
  if (Earlier.isStrong() && Mine.isStrong()) {
    // P6, and R1: each is within the other's scope.
    const bool Far = How == Order::OtherBlock || How == Order::OtherKernel;
    return Far && !(isWide(S.Scope) && Earlier.isWide()) ? How : Order::Ordered;
  }
  return !Earlier.isStrong() || !mayHaveSeen(Me, A) ? How : Order::Ordered;
}

/// The access of `A` by this thread, now, was not seen to be ordered after
/// `Earlier`, which conflicts with it: a closer look, also at those that the
/// word's cell has forgotten, and from now on may forget. Nobody: at those
/// alone; then `Kept` is one more of them from now on, unless it is nobody.
DEVICE void lookCloser(const Self &Me, AccessSite &S, Address A, Accessor Mine,
                       Accessor Earlier, Accessor Kept) {
  const bool Meets =
      !Earlier.isNobody() && (maskOf(Earlier.bytes()) & maskOf(Mine.bytes()));
  bool Tells = false;
  if (Meets) {
    const Distance Far = distanceTo(Me, Earlier);
    RacingPair *P = toldPair(Mine.site(), Earlier.site(), Far);
    const uint32_t Weight = P ? weightOf(*P, A) : 1;
    if (Weight == 0)
      return;
    const Order How = raceWith(Me, S, A, Mine, Earlier);
    if (How == Order::Ordered)
      return;
    if (distanceOf(How) != Far)
      P = toldPair(Mine.site(), Earlier.site(), distanceOf(How));
    // What else is to be found beside it, has been.
    if (P && countRace(*P, Weight) > Enough)
      return;
    Tells = !P;
  }
  const Victims Word(A);
  const uint32_t Floor = loadNear(Me.warp().Floor);
  uint64_t Next[4] = {};
#pragma unroll 1
  for (uint32_t Way = Tells ? 0 : 1; Way <= VictimWays; ++Way) {
    Accessor Other = Earlier;
    if (Way > 0) {
      if (Way % 4 == 1) {
        const Victims::Some These(Word, Way - 1, Floor);
#pragma unroll
        for (uint32_t I = 0; I < 4; ++I)
          Next[I] = These.Bits[I];
      }
      Other = Accessor(Next[0]);
      Next[0] = Next[1];
      Next[1] = Next[2];
      Next[2] = Next[3];
      if (Other.isNobody() || (Other.isSameMoment(Mine) && !Other.isSeveral()))
        continue;
      const AccessSite *Site = siteAt(Other.site());
      const Distance Far = distanceTo(Me, Other);
      if (!Site || !(surelyWrites(*Site) || surelyWrites(S)) ||
          toldPair(Mine.site(), Other.site(), Far) ||
          toldPair(Other.site(), Mine.site(), Far) ||
          raceWith(Me, S, A, Mine, Other) == Order::Ordered)
        continue;
    }
    tellRace(Me, S, A, Other);
  }
  Accessor First = Earlier.isNobody() ? Kept : Earlier;
#pragma unroll 1
  for (Accessor Second(Meets ? Mine.Bits : 0); !First.isNobody();
       First = Second, Second = Accessor(0))
    Word.add(First, Floor);
}

/// Whether a cell does well to keep its writer, though `Now` writes.
DEVICE bool keepsWriter(Accessor Writer, Accessor Now, uint32_t Floor) {
  // A strong access after another in the same kernel tells nothing new, and
  // everybody may be here for it.
  const bool IsOld = Now.isStrong() && Writer.isStrong() &&
                     Writer.site() == Now.site() && Writer.clock() >= Floor;
  // What a weak access accuses, a strong one does not.
  const bool IsWeaker =
      Now.isStrong() && !Writer.isStrong() && Writer.isSameMoment(Now);
  return IsOld || IsWeaker;
}

/// A warp's access, as its words are judged.
struct Check {
  const Self &Me;
  AccessSite &S;
  Quick Test;
  Accessor Mine;
  bool Writes;
  bool Remembers;  ///< This lane's access is the one that the cell remembers.
  bool IsInFlight; ///< It is what an asynchronous copy will write.
  bool IsThorough; ///< Nothing that the cell has seen or will see is forgotten.
  bool IsReplaced; ///< It is in its cell already, ...
  Accessor Replaced; ///< ... and this no longer is.

  DEVICE void word(Address A, CellRef C, Bytes B) const;
};

/// One word: judged against who was there before, and remembered.
DEVICE void Check::word(Address A, CellRef C, Bytes B) const {
  const Accessor Now = Mine.with(B);
  const bool IsStrong = Now.isStrong();
  Accessor Reader{0}, Writer = Replaced;
  if (!IsReplaced) {
    // What a weak write finds, it replaces. Of a weak read, the same holds as
    // of one that is checked in line.
    const bool Exchanges = Writes && Remembers && !IsStrong;
    Cell Found;
    if (Exchanges) {
      Found.Writer = C.exchangeWriter(IsInFlight ? Now.inFlight() : Now);
      Found.Reader = C.loadReader();
    } else {
      Found = C.load(/*IsNear=*/!Writes && !IsStrong);
    }
    Reader = C.decode(Found.Reader);
    Writer = C.decode(Found.Writer);
    if (Writes) {
      if (Remembers && IsStrong && !keepsWriter(Writer, Now, Test.Floor))
        Writer = C.decode(C.exchangeWriter(Now));
    } else if (Remembers &&
               (!Reader.isSameMoment(Now) || Reader.bytes() != Now.bytes() ||
                (Reader.isStrong() && !Now.isStrong()))) {
      // Of several lanes that read the same bytes at one place of the source,
      // the cell keeps the last, and that it was not the only one.
      const bool More = Reader.isSameButLane(Now) &&
                        (Reader.lane() != Now.lane() || Reader.isSeveral());
      C.setReader(More ? Now.several() : Now);
    }
  }
  // An asynchronous copy may have been waited for: then it is a write, which
  // the next look in line knows.
  if (Writer.isInFlight()) {
    const Accessor Copy = Writer;
    Writer = settled(Copy);
    if (!Writer.isInFlight() && !IsReplaced && !Writes)
      exchangeIf(C.At->Writer, Copy.Bits, Writer.Bits);
  }
  // What this thread's own write has replaced, its read races with as well.
  const bool HasVictims = !Writes && Writer.isSameMoment(Now);
#pragma unroll 1
  for (uint32_t I = 0; I < 3; ++I) {
    const Accessor Earlier = I == 0   ? Accessor(Writes ? Reader.Bits : 0)
                             : I == 1 ? Writer
                                      : Accessor(0);
    const bool IsClear = Test.isOrdered(Earlier, Now, C.IsShared) ||
                         !isSuspect(Me, Now, Earlier, IsThorough);
    const bool IsKept = I == 2 && IsThorough && Remembers;
    const Accessor Kept = IsInFlight ? Now.inFlight() : Now;
    if (I < 2 ? !IsClear : HasVictims || IsThorough)
      lookCloser(Me, S, A, Now, Earlier, Accessor(IsKept ? Kept.Bits : 0));
  }
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_CELLCHECK_H
