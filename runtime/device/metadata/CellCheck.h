// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An access against the cells of its words.
#ifndef CRSAN_DEVICE_METADATA_CELLCHECK_H
#define CRSAN_DEVICE_METADATA_CELLCHECK_H

#include "metadata/RaceRecord.h"
#include "metadata/Victims.h"

namespace crsan::device {

/// Whether `Earlier`, which Quick did not show to be ordered, needs lookCloser.
/// `Mine` is this thread's access.
DEVICE bool isSuspect(const Self &Me, Accessor Mine, Accessor Earlier,
                      bool IsThorough = false) {
  // An access of other bytes does not conflict, but lookCloser may find a
  // victim that does.
  if (!(maskOf(Earlier.bytes()) & maskOf(Mine.bytes())))
    return true;
  // P6: two strong accesses of wide scope never race.
  if (Earlier.isWide() && Mine.isWide())
    return false;
  return !isOrderedNear(Me, Earlier, IsThorough);
}

/// The lanes of a warp that may have made an access to `A` at site `S`, which
/// the cell has as one of lane `Lane`. ldmatrix and stmatrix distribute the row
/// of 16 bytes that a lane names among other lanes.
DEVICE uint32_t actorsOf(const AccessSite &S, uint32_t Lane, Address A) {
  const uint32_t Row = Lane & 7, Column = uint32_t(A) >> 2 & 3;
  if (S.Roles & OpaqueRow)
    return ~0u;
  if (S.Roles & MatrixRow)
    return 1u << Lane | 1u << (4 * Row + Column);
  if (S.Roles & TransposedRow)
    return 1u << Lane | 0x11u << (8 * Column + Row / 2);
  return 1u << Lane;
}

/// Whether `Earlier`, of a location in shared memory, was made by a thread of
/// this block or, where there are clusters, of this cluster. The blocks of a
/// cluster begin together, so that an access by one of them is not of the time
/// before the memory was this block's.
DEVICE bool isOfThisCluster(const Self &Me, Accessor Earlier) {
  if (!hasClusters())
    return Me.placeOf(Earlier.warp()) < Me.warpsInBlock() &&
           !Me.isOfEarlierBlock(Earlier);
  const WarpState &Other = Self::stateOf(Earlier.warp());
  return loadRelaxed(Other.Grid) == Me.warp().Grid &&
         Earlier.made() >= loadRelaxed(Other.Start) &&
         clusterOf(loadRelaxed(Other.Block)) == clusterOf(Me.warp().Block);
}

/// Whether one lane may have made both accesses to `A`: this thread's, at site
/// `S`, and `Earlier`, of the same warp.
DEVICE bool mayBeOneLane(const Self &Me, const AccessSite &S, Address A,
                         Accessor Earlier) {
  const AccessSite *Other = siteAt(Earlier.site());
  constexpr uint32_t OfMatrix = MatrixRow | TransposedRow | OpaqueRow;
  return Other && ((S.Roles | Other->Roles) & OfMatrix) &&
         (actorsOf(S, Me.Lane, A) & actorsOf(*Other, Earlier.lane(), A));
}

/// Whether this thread's access at site `S` is by a matrix product and the
/// write `Earlier` by a thread of its own warp group. PTX says of wgmma.fence
/// that it tells that the warp group has written its operands, so such a write
/// counts as ordered; but a copy in flight does not.
DEVICE bool isOfOwnGroup(const Self &Me, const AccessSite &S,
                         Accessor Earlier) {
  const uint32_t Theirs = Me.placeOf(Earlier.warp());
  return (S.Roles & ByWarpGroup) && !Earlier.isInFlight() &&
         Theirs < Me.warpsInBlock() &&
         Theirs / 4 == Me.placeOf(Me.number()) / 4;
}

/// Judges the access `OfMine` to `A` at site `S`, by this thread and now,
/// against `OfEarlier`. Returns how far apart the two racing threads are, or
/// Order::Ordered if there is no race.
HELPER Order raceWith(PlaceOf Place, const AccessSite &S, Address A,
                      uint64_t OfMine, uint64_t OfEarlier) {
  const Self Me(Place);
  const Accessor Mine(OfMine), Earlier(OfEarlier);
  if (!(maskOf(Earlier.bytes()) & maskOf(Mine.bytes())))
    return Order::Ordered;
  // The accessor is this very copy, which another thread has moved in the cell
  // meanwhile.
  if (Earlier.isInFlight() && Earlier.made() == Mine.clock() &&
      Earlier.site() == Mine.site() && Earlier.warp() == Me.number() &&
      Earlier.lane() == Me.Lane)
    return Order::Ordered;
  if (spaceOf(A) == Space::Shared && !isOfThisCluster(Me, Earlier))
    return Order::Ordered;
  const Order How = judge(Place, OfEarlier);
  if (How == Order::Ordered || isOfOwnGroup(Me, S, Earlier) ||
      (How == Order::SameWarp && mayBeOneLane(Me, S, A, Earlier)))
    return Order::Ordered;
  if (Earlier.isStrong() && Mine.isStrong()) {
    // P6 and R1: two strong accesses race only if one scope does not include
    // the other thread.
    const bool Far = How == Order::OtherBlock || How == Order::OtherKernel;
    return Far && !(isWide(S.Scope) && Earlier.isWide()) ? How : Order::Ordered;
  }
  return !Earlier.isStrong() || !mayHaveSeen(Me, Earlier, A, How)
             ? How
             : Order::Ordered;
}

/// The closer look at an access `Mine` to `A` that Quick could not show to be
/// ordered after `Earlier`. Judges the pair, and judges `Mine` against the
/// victims of the word (Victims.h), and then adds `Earlier` and `Mine` to the
/// victims if the two overlap. If `Earlier` is no access, only the victims are
/// judged, and `Kept`, if it is one, is added to them. `IsDrawn`: also if the
/// pair is quiet.
HELPER void lookCloser(PlaceOf Place, AccessSite &S, Address A, uint64_t OfMine,
                       uint64_t OfEarlier, uint64_t OfKept, bool IsDrawn) {
  const Self Me(Place);
  const Accessor Mine(OfMine), Earlier(OfEarlier), Kept(OfKept);
  const bool Meets =
      !Earlier.isNobody() && (maskOf(Earlier.bytes()) & maskOf(Mine.bytes()));
  bool Tells = false;
  if (Meets) {
    if (!IsDrawn && isQuiet(Mine.site(), Earlier.site()) && !drawsOne())
      return;
    const Order How = raceWith(Place, S, A, OfMine, OfEarlier);
    if (How == Order::Ordered || mayLackOrder())
      return;
    RacingPair *P = toldPair(Mine.site(), Earlier.site(), distanceOf(How));
    // The victims were judged when the pair was first counted.
    if (P && countRace(*P) >= AllCounted)
      return makeQuiet(*P);
    Tells = !P;
  }
  const Victims Word(A);
  const uint32_t Floor = loadNear(Me.warp().Floor);
  // Without clusters only this block accesses its shared memory, and what was
  // before its last barrier is ordered.
  const bool IsOfBlock = spaceOf(A) == Space::Shared && !hasClusters();
  const uint32_t Past = IsOfBlock ? loadNear(Me.warp().Barrier) : Floor;
  uint64_t Next[4] = {};
#pragma unroll 1
  for (uint32_t Way = Tells ? 0 : 1; Way <= VictimWays; ++Way) {
    Accessor Other = Earlier;
    if (Way > 0) {
      if (Way % 4 == 1) {
        const Victims::Some These(Word, Way - 1, Floor, Past);
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
          raceWith(Place, S, A, OfMine, Other.Bits) == Order::Ordered)
        continue;
    }
    tellRace(Place, S, A, Other.Bits, /*OfProxies=*/false);
  }
  Accessor First = Earlier.isNobody() ? Kept : Earlier;
#pragma unroll 1
  for (Accessor Second(Meets ? Mine.Bits : 0); !First.isNobody();
       First = Second, Second = Accessor(0))
    Word.add(First, Floor, Past);
}

/// Tells the host if the bulk copy's read `Mine` of `A` at site `S` comes after
/// the write `Writer` with no fence between their proxies.
HELPER void checkProxies(PlaceOf Place, AccessSite &S, Address A, uint64_t Mine,
                         uint64_t Writer) {
  const Self Me(Place);
  const Accessor Earlier(Writer);
  if (spaceOf(A) == Space::Shared && !isOfThisCluster(Me, Earlier))
    return;
  const Order How = judgeProxies(Me, Earlier);
  if (How == Order::Ordered)
    return;
  if (RacingPair *P =
          toldPair(Accessor(Mine).site(), Earlier.site(), distanceOf(How)))
    countRace(*P);
  else
    tellRace(Place, S, A, Writer, /*OfProxies=*/true);
}

/// Whether the cell should keep its writer although `Now` writes as well.
DEVICE bool keepsWriter(Accessor Writer, Accessor Now, uint32_t Floor) {
  // A strong write after another of the same site and grid adds nothing, and
  // many threads may execute it at once.
  const bool IsOld = Now.isStrong() && Writer.isStrong() &&
                     Writer.site() == Now.site() && Writer.clock() >= Floor;
  // A weak write accuses more accesses than a strong one of the same lane and
  // clock.
  const bool IsWeaker =
      Now.isStrong() && !Writer.isStrong() && Writer.isSameMoment(Now);
  return IsOld || IsWeaker;
}

/// One access of one lane, while its words are judged.
struct Check {
  const Self &Me;
  AccessSite &S;
  Quick Test;
  Accessor Mine;
  bool Writes;
  bool Remembers;    ///< The cell remembers this lane's access (and not that of
                     ///< another lane).
  bool IsInFlight;   ///< The access is by an asynchronous copy that begins.
  bool IsThorough;   ///< All that the cell forgets goes to the victims.
  bool IsDrawn;      ///< Races of quiet pairs are looked at, too.
  bool OnlyReplaced; ///< The cell is left alone.
  Accessor
      Replaced; ///< What the access has already replaced in the cell, or 0.

  DEVICE Cell visit(CellRef C, Accessor Now, Accessor Left) const;
  DEVICE void word(Address A, CellRef C, Bytes B) const;
  DEVICE Accessor settle(Accessor Copy, uint64_t *In) const;
};

/// Writes the access `Now` into the cell `C`, as `Left`: the same, or in
/// flight. Returns the accessors to judge.
DEVICE Cell Check::visit(CellRef C, Accessor Now, Accessor Left) const {
  const bool IsStrong = Now.isStrong();
  // A weak write exchanges the writer, so of two writers that meet the second
  // sees the first. A weak read may use the L1 cache, like a read that is
  // checked in line.
  const bool Exchanges = Writes && Remembers && !IsStrong;
  Cell Found;
  if (Exchanges) {
    Found.Writer = C.exchangeWriter(Left);
    Found.Reader = C.loadReader();
  } else {
    Found = C.load(/*IsNear=*/!Writes && !IsStrong);
  }
  const Accessor Reader = C.decode(Found.Reader);
  Accessor Writer = C.decode(Found.Writer);
  if (Writes) {
    if (Remembers && IsStrong && !keepsWriter(Writer, Now, Test.Floor))
      Writer = C.decode(C.exchangeWriter(Left));
  } else if (Remembers && IsInFlight) {
    C.setReader(Left);
  } else if (Remembers &&
             (!Reader.isSameMoment(Now) || Reader.bytes() != Now.bytes() ||
              (Reader.isStrong() && !Now.isStrong()))) {
    // Where several lanes read the same bytes at one site, the cell keeps the
    // last lane and the flag Several.
    const bool More = Reader.isSameButLane(Now) &&
                      (Reader.lane() != Now.lane() || Reader.isSeveral());
    C.setReader(More ? Now.several() : Now);
  }
  return {Writer.Bits, Writes ? Reader.Bits : 0};
}

/// A copy that was found in flight: unchanged, or, if it has been waited for,
/// the access that it has become. Later checks in line understand that one, so
/// it takes the copy's place in `In`, which may be null.
DEVICE Accessor Check::settle(Accessor Copy, uint64_t *In) const {
  const Accessor Now = Copy.isBulk() ? settledBulk(Me, Copy) : settled(Copy);
  if (!Now.isInFlight() && In)
    exchangeIf(*In, Copy.Bits, Now.Bits);
  return Now;
}

/// Judges the bytes `B` of the word at `A` against the accessors of the cell
/// `C`, and writes the access into the cell.
DEVICE void Check::word(Address A, CellRef C, Bytes B) const {
  const Accessor Now = Mine.with(B);
  const bool IsBulk = S.Roles & (ByBulkGroup | ByMbarrier | ByWarpGroup);
  const Accessor Left =
      IsInFlight && !C.isCached() ? Now.inFlight(IsBulk) : Now;
  Cell Found = {0, 0};
  if (!OnlyReplaced)
    Found = visit(C, Now, Left);
  Accessor Reader(Found.Reader), Writer(Found.Writer), Before = Replaced;
  if (Reader.isInFlight())
    Reader = settle(Reader, &C.At->Reader);
  if (Writer.isInFlight())
    Writer = settle(Writer, Writes ? nullptr : &C.At->Writer);
  if (Before.isInFlight())
    Before = settle(Before, nullptr);
  // Operands of matrix products are not judged: the kind names a copy.
  if ((S.Roles & (ByBulkGroup | ByMbarrier)) && !Writes && !OnlyReplaced &&
      !Writer.isNobody() && (maskOf(Writer.bytes()) & maskOf(B)))
    checkProxies(Me.Place, S, A, Now.Bits, Writer.Bits);
  // A read that finds its own thread's write also races with what that write
  // has replaced.
  const bool HasVictims = !Writes && Writer.isSameMoment(Now);
#pragma unroll 1
  for (uint32_t I = 0; I < 4; ++I) {
    const Accessor Earlier = I == 0   ? Reader
                             : I == 1 ? Writer
                             : I == 2 ? Before
                                      : Accessor(0);
    const bool IsClear = Test.isOrdered(Earlier, Now, C.IsShared) ||
                         !isSuspect(Me, Now, Earlier, IsThorough);
    const bool IsKept = I == 3 && IsThorough && Remembers;
    if (I < 3 ? !IsClear : HasVictims || IsThorough)
      lookCloser(Me.Place, S, A, Now.Bits, Earlier.Bits, IsKept ? Left.Bits : 0,
                 IsDrawn);
  }
}

/// Whether a block has begun that is a quarter of all warp numbers further on,
/// which is more than a device holds at a time. A thorough block that goes on
/// at its pace might still run when a block with its own numbers begins, and
/// the two would be Mixed.
DEVICE bool isOvertaken(const WarpState &W, PlaceOf Place) {
  const uint32_t Ahead = (Place.warp() + NumWarps / 4) & (NumWarps - 1);
  return (Place.Bits & SharesNumber) &&
         loadRelaxed(Self::stateOf(Ahead).Grid) == W.Grid;
}

/// Whether this check is one of the warp's thorough checks
/// (WarpState::Thorough). Counts them down; called by all lanes that check
/// together.
DEVICE bool takeThorough(WarpState &W) {
  const uint32_t Place = loadNear(W.Place);
  if (!(Place & NeedsCare))
    return false;
  const uint32_t Left = loadNear(W.Thorough);
  if (Left && isFirstHere()) {
    const uint32_t Here = isOvertaken(W, PlaceOf{Place})
                              ? Left
                              : __builtin_popcount(activeMask());
    W.Thorough = Left > Here ? Left - Here : 0;
    if (Left <= Here && !isUsedUp(loadNear(W.Clock)) &&
        !(__crsan_config.Flags & WeakVolatile))
      clearFlags(W.Place, NeedsCare);
  }
  return Left != 0;
}

/// Counts an access that has no shadow or no site index.
DEVICE void countUnchecked(const Self &Me) {
  __nvvm_atom_add_gen_ll(reinterpret_cast<long long *>(&Me.warp().Unchecked),
                         1);
}

/// Adds `Number` accesses of each active lane to the warp's counter.
DEVICE void countChecked(WarpState &W, uint32_t Number) {
  auto Add = [&](uint64_t Accesses) {
    asm volatile("red.relaxed.gpu.add.u64 [%0], %1;" ::"l"(&W.Checked),
                 "l"(Accesses)
                 : "memory");
  };
  // The mask is taken once, immediately before the exchange: lanes may part at
  // any time.
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

#endif // CRSAN_DEVICE_METADATA_CELLCHECK_H
