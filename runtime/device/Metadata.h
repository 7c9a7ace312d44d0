//===- Metadata.h - Metadata mode's entry points ----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_H
#define CRSAN_DEVICE_METADATA_H

#include "Judgement.h"
#include "Records.h"

/// Entry points of metadata mode: every access comes here.
#define HOT_ENTRY extern "C" __attribute__((device, noinline, used, convergent))

namespace crsan::device {

DEVICE bool isShadowed() { return __crsan_config.Flags & Shadowed; }

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// The number by which cells name a site; it gets one when it is first used.
/// MaxSites: there is none left.
DEVICE uint32_t indexOf(AccessSite &S) {
  constexpr uint32_t Claimed = ~0u;
  uint32_t Index = loadNear(S.Index);
  if (Index != 0 && Index != Claimed)
    return Index;
  uint32_t Found;
  asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], 0, %2;"
               : "=r"(Found)
               : "l"(&S.Index), "r"(Claimed)
               : "memory");
  if (Found == 0) {
    Index = 1 + __nvvm_atom_add_gen_i(
                    reinterpret_cast<int *>(&metadata().NextSite), 1);
    if (Index < MaxSites)
      storeRelaxed(table<uint64_t>(SitesAt)[Index],
                   reinterpret_cast<uint64_t>(&S));
    else
      Index = MaxSites;
    fenceDevice();
    storeRelaxed(S.Index, Index);
    return Index;
  }
  // Whoever was first is about to say it.
  while (Found == Claimed)
    Found = loadRelaxed(S.Index);
  return Found;
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

/// The pair's entry, made if need be; null if the table is full.
DEVICE RacingPair *pairOf(uint32_t Later, uint32_t Earlier) {
  auto *Pairs = table<RacingPair>(PairsAt);
  const uint32_t Key = Later << 16 | Earlier;
  uint32_t At = mix(Key);
#pragma unroll 1
  for (uint32_t Tries = 0; Tries < 16; ++Tries, ++At) {
    RacingPair &P = Pairs[At & (NumRacingPairs - 1)];
    uint32_t Found;
    asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], 0, %2;"
                 : "=r"(Found)
                 : "l"(&P.Key), "r"(Key)
                 : "memory");
    if (Found == 0 || Found == Key)
      return &P;
  }
  return nullptr;
}

/// The linear index of a thread in the block that it belongs to.
DEVICE uint32_t placeInBlock(Accessor A, uint64_t Grid, uint64_t Block) {
  const uint32_t Warp = (A.warp() - firstWarp(Grid, Block)) & (NumWarps - 1);
  return Warp * 32 + A.lane();
}

} // namespace crsan::device

/// The access at `A` by this thread, now, and the one that a cell remembers may
/// be a race: judged again, since the state of the earlier thread may have been
/// taken over by a later block meanwhile, and told to the host if so.
ENTRY void __crsan_md_race(crsan::abi::AccessSite *S, uint64_t A,
                           uint64_t EarlierBits) {
  using namespace crsan::device;
  const Self Me;
  const Accessor Earlier{EarlierBits};
  fenceDevice();
  const Order How = judge(Me, Earlier);
  const AccessSite *Other = siteAt(Earlier.site());
  if (How == Order::Ordered || !Other)
    return;
  const uint64_t Why = reasonsOf(Me, Earlier, How);
  const WarpState &W = Self::stateOf(Earlier.warp());
  const uint64_t Block = loadRelaxed(W.Block);
  fenceDevice();
  if (judge(Me, Earlier) != How)
    return;
  RacingPair *P = pairOf(S->Index, Earlier.site());
  if (!P) {
    __nvvm_atom_add_gen_ll(
        reinterpret_cast<long long *>(&metadata().PairsDropped), 1);
    return;
  }
  if (loadRelaxed(P->Slot) == 0) {
    // The first of its kind. What the earlier thread's warp said of itself
    // before its first access is here by now, and surely a while later.
    asm volatile("nanosleep.u32 20000;" ::: "memory");
    fenceDevice();
    if (judge(Me, Earlier) != How || loadRelaxed(W.Block) != Block)
      return;
  }
  const uint64_t Seen =
      __nvvm_atom_add_gen_ll(reinterpret_cast<long long *>(&P->Hits), 1);
  if ((Seen & (Seen + 1)) != 0)
    return;
  auto *Buffer = reinterpret_cast<RecordBuffer *>(__crsan_config.Records);
  if (Seen != 0) {
    const uint32_t Slot = loadRelaxed(P->Slot) - 1;
    if (Slot < Buffer->Capacity)
      *publishedHits(Buffer, Slot) = Seen + 1;
    return;
  }
  const uint32_t Slot =
      __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&counters().NextRecord), 1);
  if (Slot >= Buffer->Capacity) {
    *reinterpret_cast<volatile uint64_t *>(&Buffer->Dropped) =
        1 + __nvvm_atom_add_gen_ll(
                reinterpret_cast<long long *>(&counters().Dropped), 1);
    return;
  }
  volatile Record &R = reinterpret_cast<Record *>(Buffer + 1)[Slot];
  R.Site = S->Id;
  R.Other = Other->Id;
  R.Address = A;
  R.Before = earlierThread(Block < UnknownBlock ? Block : UnknownBlock,
                           placeInBlock(Earlier, W.Grid, Block));
  R.After = Why | blockShape(__nvvm_read_ptx_sreg_ntid_x(),
                             __nvvm_read_ptx_sreg_ntid_y(),
                             __nvvm_read_ptx_sreg_ntid_z());
  R.Lanes = 1u << lane();
  R.Flags = TwoSided | (__crsan_config.Flags & ShuffleBlocks ? Shuffled : 0);
  R.Size = S->Size && S->Size < 255 ? S->Size : 255;
  *reinterpret_cast<volatile uint8_t *>(&R.MemorySpace) = uint8_t(spaceOf(A));
  writePlace(R, Buffer, Slot);
  *publishedHits(Buffer, Slot) = 1;
  storeRelaxed(P->Slot, Slot + 1);
  __nvvm_membar_sys();
  *reinterpret_cast<volatile uint8_t *>(&R.Kind) =
      uint8_t(kindOf(How, Why, *S, *Other));
  if (__crsan_config.Flags & TrapOnRace)
    asm volatile("brkpt;");
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The access of `A` by this thread, now, was not seen to be ordered after one
/// that conflicts with it: a closer look.
ENTRY void __crsan_md_judge(crsan::abi::AccessSite *S, uint64_t A,
                            uint64_t MineBits, uint64_t EarlierBits) {
  using namespace crsan::device;
  const Accessor Mine{MineBits}, Earlier{EarlierBits};
  if (!(maskOf(Earlier.bytes()) & maskOf(Mine.bytes())))
    return;
  const Self Me;
  const Order How = judge(Me, Earlier);
  if (How == Order::Ordered)
    return;
  if (Earlier.isStrong() && Mine.isStrong()) {
    const AccessSite *Other = siteAt(Earlier.site());
    const bool Far = How == Order::OtherBlock || How == Order::OtherKernel;
    if (!Other || isScopeEnough(*S, *Other, Far))
      return; // P6.
  } else if (Earlier.isStrong() && mayHaveSeen(Me, A)) {
    return;
  }
  __crsan_md_race(S, A, EarlierBits);
}

namespace crsan::device {

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
  AccessSite &S;
  Quick Test;
  Accessor Mine;
  bool Writes;
  bool Remembers; ///< This lane's access is the one that the cell remembers.

  DEVICE void against(Address A, CellRef C, Accessor Now,
                      Accessor Earlier) const {
    if (!Test.isOrdered(Earlier, Now, C.IsShared))
      __crsan_md_judge(&S, A, Now.Bits, Earlier.Bits);
  }
  DEVICE void word(Address A, CellRef C, Bytes B) const;
};

/// One word: judged against who was there before, and remembered.
DEVICE void Check::word(Address A, CellRef C, Bytes B) const {
  const Accessor Now = Mine.with(B);
  const Cell Found = C.load();
  const Accessor Reader = C.decode(Found.Reader);
  Accessor Writer = C.decode(Found.Writer);
  if (Writes) {
    if (Remembers && !keepsWriter(Writer, Now, Test.Floor))
      Writer = C.decode(C.exchangeWriter(Now));
    against(A, C, Now, Reader);
  } else if (Remembers &&
             (!Reader.isSameMoment(Now) || Reader.bytes() != Now.bytes() ||
              (Reader.isStrong() && !Now.isStrong()))) {
    // Of several lanes that read the same bytes at one place of the source, the
    // cell keeps the last, and that it was not the only one.
    const bool More = Reader.isSameButLane(Now) &&
                      (Reader.lane() != Now.lane() || Reader.isSeveral());
    C.setReader(More ? Now.several() : Now);
  }
  against(A, C, Now, Writer);
}

DEVICE void countUnchecked(const Self &Me) {
  __nvvm_atom_add_gen_ll(reinterpret_cast<long long *>(&Me.warp().Unchecked),
                         1);
}

} // namespace crsan::device

/// An access of `Size` bytes, in all the words that they are in.
ENTRY void __crsan_md_check(crsan::abi::AccessSite *Site, uint64_t A,
                            uint64_t Size) {
  using namespace crsan::device;
  if (!isShadowed() || !canRace(A) || Size == 0)
    return;
  AccessSite &S = *Site;
  const Self Me;
  const WarpState &W = Me.warp();
  const bool Strong = S.Flags & IsStrong;
  // Lanes of a warp that read one location do not race with each other, and
  // neither do strong updates: one of them is remembered (iGUARD 6.5).
  bool Remembers = true, Several = false;
  // Whether a compare-and-swap writes is not known yet.
  const bool Writes = (S.Flags & WritesMemory) && !(S.Flags & IsSwap);
  if (!Writes || Strong) {
    const uint32_t All = activeMask();
    const Address First = shuffle(All, A, __builtin_ctz(All));
    const uint32_t Here = activeMask();
    if (!__nvvm_vote_any_sync(Here, First != A)) {
      Several = (Here & (Here - 1)) != 0;
      Remembers = Me.Lane == uint32_t(__builtin_ctz(Here));
    }
  }
  const uint32_t Clock = loadNear(W.Clock);
  const uint32_t Index = indexOf(S);
  Accessor Mine = Accessor::make(Index, Me.Lane, Me.Warp, Clock);
  if (Several)
    Mine = Mine.several();
  if (Strong)
    Mine = Mine.strong();
  if (loadNear(W.LockedLanes) >> Me.Lane & 1)
    Mine = Mine.locked();
  const Check C{
      S,
      {Me.FirstWarp, warpsInBlock(), loadNear(W.Barrier), loadNear(W.Floor)},
      Mine,
      Writes,
      Remembers};
  const bool InShared = spaceOf(A) == Space::Shared;
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

namespace crsan::device {

/// A compare-and-swap has written. It is not judged as a write any more: who
/// has read meanwhile may have come after it.
DEVICE void rememberSwap(const Self &Me, AccessSite &S, Address A) {
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
    Accessor Now = Accessor::make(Index, Me.Lane, Me.Warp, Clock).strong();
    if (loadNear(W.LockedLanes) >> Me.Lane & 1)
      Now = Now.locked();
    if (!keepsWriter(C.decode(C.load().Writer), Now.with(B), loadNear(W.Floor)))
      C.setWriter(Now.with(B));
  }
}

/// Accesses checked, one a lane: counted by the first of the lanes that are
/// here together.
DEVICE void countChecked(uint32_t Warp) {
  const uint32_t Here = activeMask();
  if (lane() == uint32_t(__builtin_ctz(Here)))
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(
                     &Self::stateOf(Warp).Checked),
                 "l"(uint64_t(__builtin_popcount(Here)))
                 : "memory");
}

//===----------------------------------------------------------------------===//
// Locks (iGUARD 6.3)
//===----------------------------------------------------------------------===//

constexpr uint32_t MaxLocks =
    sizeof(LaneStates::Locks) / sizeof(LaneStates::Locks[0]);

DEVICE uint16_t lockOf(Address A) {
  const uint16_t Hash = uint16_t(mix(uint32_t(A >> 2) ^ uint32_t(A >> 34)));
  return Hash ? Hash : 1;
}

/// A compare-and-swap that succeeded may take a lock; a fence has yet to
/// follow.
DEVICE void takeLock(const LaneRef &T, Address A) {
  ++T.NumLocks;
  for (uint32_t I = 0; I < MaxLocks; ++I)
    if (T.lock(I) == 0) {
      T.lock(I) = lockOf(A);
      return;
    }
}

/// A strong write to a lock that is held gives it back.
DEVICE void giveLock(const Self &Me, Address A) {
  const LaneRef T = Me.thread();
  if (T.NumLocks == 0)
    return;
  const uint16_t Lock = lockOf(A);
  for (uint32_t I = 0; I < MaxLocks; ++I)
    if (T.lock(I) == Lock) {
      T.lock(I) = 0;
      T.ActiveLocks &= ~(1u << I);
      --T.NumLocks;
      if (!T.ActiveLocks) {
        clearFlags(Me.warp().LockedLanes, 1u << Me.Lane);
        if (loadRelaxed(Me.warp().LockedLanes) == 0 &&
            !isUsedUp(loadRelaxed(Me.warp().Clock)))
          clearFlags(Me.warp().Place, NeedsCare);
      }
      return;
    }
  // One of those that did not fit.
  if (T.NumLocks > MaxLocks)
    --T.NumLocks;
}

DEVICE void activateLocks(const Self &Me) {
  const LaneRef T = Me.thread();
  if (T.NumLocks == 0)
    return;
  for (uint32_t I = 0; I < MaxLocks; ++I)
    if (T.lock(I))
      T.ActiveLocks |= 1u << I;
  setFlags(Me.warp().LockedLanes, 1u << Me.Lane);
  setFlags(Me.warp().Place, NeedsCare);
}

/// The clock that the accesses of a grid begin with: larger than any clock of a
/// grid that had ended when its first block began.
DEVICE uint32_t startOf(uint64_t Grid) {
  GridStart &G = table<GridStart>(GridStartsAt)[Grid & (NumGridStarts - 1)];
  const uint64_t Key = Grid + 1;
  uint64_t Found;
  uint32_t Clock, Unused;
  // The clock is as old as the key, or newer. The multiprocessor's cache holds
  // nothing from before the grid; everybody asks, and it answers.
  asm volatile("{ .reg .b32 a, b; ld.v4.u32 {a, b, %1, %2}, [%3]; "
               "mov.b64 %0, {a, b}; }"
               : "=l"(Found), "=r"(Clock), "=r"(Unused)
               : "l"(&G)
               : "memory");
  if (Found == Key)
    return Clock;
  Found = loadRelaxed(G.Grid);
  if (Found != Key) {
    // Whoever takes the place of an old grid sets its clock first; a grid that
    // loses its place to another one begins with a smaller clock.
    uint32_t Largest = 0;
#pragma unroll
    for (uint32_t I = 0; I < NumMaxClocks; ++I) {
      const uint32_t Ended = loadRelaxed(table<MaxClock>(MaxClocksAt)[I].Clock);
      Largest = Ended > Largest ? Ended : Largest;
    }
    raise(G.Clock, Largest + 1);
    fenceDevice();
    exchangeIf(G.Grid, Found, Key);
  }
  fenceDevice();
  return loadRelaxed(G.Clock);
}

/// The object that a barrier of the whole block is.
constexpr uint64_t BlockBarrier = ~uint64_t(0);

DEVICE bool isWide(SyncScope Scope) { return Scope != SyncScope::Block; }

/// What this thread writes strongly from now on releases what was before.
DEVICE void noteFence(const Self &Me, bool IsWide) {
  const LaneRef T = Me.thread();
  const uint32_t Now = tick(Me);
  T.FenceBlock = Now;
  if (IsWide)
    T.FenceDevice = Now;
  if (!(loadNear(Me.warp().Place) & HasFenced))
    setFlags(Me.warp().Place, HasFenced);
}

} // namespace crsan::device

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// A kernel begins. Lanes of a warp come here together.
HOT_ENTRY void __crsan_md_enter(uint32_t Flags) {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const Self Me;
  WarpState &W = Me.warp();
  const uint32_t Here = activeMask();
  const bool IsLeader = Me.Lane == uint32_t(__builtin_ctz(Here));
  const uint64_t Grid = gridHere(), Block = linearBlock();
  bool IsNew = false;
  if (IsLeader) {
    const uint32_t Floor = startOf(Grid);
    const uint32_t Now = loadRelaxed(W.Clock) + 1;
    const uint32_t Start = Now > Floor ? Now : Floor;
    const bool IsOurs = W.Grid == Grid && W.Block == Block;
    const uint32_t Alive = __nvvm_atom_add_gen_i(
        reinterpret_cast<int *>(&W.Alive), __builtin_popcount(Here));
    IsNew = !Alive || !IsOurs;
    if (IsNew) {
      if (Alive)
        setFlags(W.Flags, Mixed);
      else
        storeRelaxed(W.Flags, 0);
      storeRelaxed(W.Start, Start);
      W.Barrier = 0;
      W.Floor = Floor;
      W.LockedLanes = 0;
      W.Place = (Me.FirstWarp & (NumWarps - 1)) | warpsInBlock() << 16 |
                (linearThread() / 32) << 22;
      W.SharedCells = sharedCells(uint32_t(Block));
      W.Seen = 0;
      W.Grid = Grid;
      W.Block = Block;
      // Two blocks may have come at once.
      setFlags(W.Flags,
               (Flags & EnterLeaky ? uint32_t(Leaky) : 0) |
                   (Flags & EnterOpaque ? uint32_t(Opaque) : 0) |
                   (loadRelaxed(W.Alive) != uint32_t(__builtin_popcount(Here))
                        ? uint32_t(Mixed)
                        : 0));
      // No fence: it would cost every warp more than all else here. Whoever
      // is about to accuse an access of this block waits for the above.
      raiseClock(W, Start);
    }
  }
  // Not the active ones: the leader may not be back yet.
  IsNew = __nvvm_vote_any_sync(Here, IsNew);
  if (IsNew)
    for (uint32_t I = Me.Lane; I < KnownEntries; I += __builtin_popcount(Here))
      storeRelaxed(Me.known()[I], 0);
  __nvvm_bar_warp_sync(Here);
}

/// A thread is about to leave its kernel: from now on it takes part in all
/// barriers of its block.
HOT_ENTRY void __crsan_md_leave() {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const Self Me;
  WarpState &W = Me.warp();
  const bool MayComeBack = loadNear(W.Flags) & (Leaky | Mixed);
  if (MayComeBack) {
    const LaneRef T = Me.thread();
    if (T.Flags & HasLeft)
      return;
    T.Flags |= HasLeft;
  }
  const uint32_t Here = activeMask();
  const uint32_t Leaving = __builtin_popcount(Here);
  const bool IsLeader = Me.Lane == uint32_t(__builtin_ctz(Here));
  const uint32_t Now = loadNear(W.Clock) + 1;
  if (IsLeader) {
    raiseClock(W, Now);
    raise(Me.firstWarpState().Arrive[0], Now);
    raise(Me.firstWarpState().Arrive[1], Now);
    uint32_t Sm;
    asm("mov.u32 %0, %%smid;" : "=r"(Sm));
    uint32_t &Max = table<MaxClock>(MaxClocksAt)[Sm % NumMaxClocks].Clock;
    if (loadNear(Max) < Now)
      raise(Max, Now);
  }
  // To those of its warp that stay, each has come to their next barrier.
  if (Leaving != 32) {
    const LaneRef T = Me.thread();
    T.Flags |= HasLeft;
    T.LastSync = T.WarpArrive = Now;
    fenceDevice();
  }
  if (IsLeader)
    asm volatile("red.relaxed.gpu.add.u32 [%0], %1;" ::"l"(&W.Alive),
                 "r"(0u - Leaving)
                 : "memory");
}

/// The state of warps that are not followed.
__attribute__((device)) crsan::abi::WarpState NotFollowed = {
    0, 0, 0, crsan::abi::NeedsCare, 0, 0, 0, 0, 0, 0, 0, {}, 0, 0, 0, 0};

/// What the check in line needs to know of this thread, wherever it asks: its
/// warp's state, ...
HOT_ENTRY uint64_t __crsan_md_self() {
  using namespace crsan::device;
  return reinterpret_cast<uint64_t>(isShadowed() ? &Self().warp()
                                                 : &NotFollowed);
}
/// ... and the page table, which is there if that state does not need care.
HOT_ENTRY uint64_t __crsan_md_pages() {
  return __crsan_config.Metadata + crsan::abi::PagesAt;
}

/// A weak access is about to happen, of more than a register holds.
HOT_ENTRY void __crsan_md_access(crsan::abi::AccessSite *S, uint64_t A) {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  countChecked(Self().Warp);
  __crsan_md_check(S, A, S->Size);
}

/// As above, of a length that the compiler did not know.
HOT_ENTRY void __crsan_md_range(crsan::abi::AccessSite *S, uint64_t A,
                                uint64_t Length) {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  countChecked(Self().Warp);
  __crsan_md_check(S, A, Length);
}

/// A strong access is about to write: it releases what its order says, or what
/// a fence before it has made ready (ScoRD VI).
HOT_ENTRY void __crsan_md_release(crsan::abi::AccessSite *S, uint64_t A) {
  using namespace crsan::device;
  if (!isShadowed() || !canRace(A))
    return;
  const Self Me;
  const LaneRef T = Me.thread();
  giveLock(Me, A);
  const bool Wide = isWide(S->Scope);
  if (S->Order == SyncOrder::Release || S->Order == SyncOrder::AcquireRelease) {
    noteFence(Me, Wide);
  }
  if (T.FenceBlock)
    publish(Me, SyncCells(A), Wide && T.FenceDevice && !isOfBlock(A),
            T.FenceDevice, T.FenceBlock);
}

/// A strong access is about to happen.
HOT_ENTRY void __crsan_md_strong(crsan::abi::AccessSite *S, uint64_t A) {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  __crsan_md_range(S, A, S->Size);
  if (S->Flags & WritesMemory)
    __crsan_md_release(S, A);
}

/// A strong access has happened. One that reads acquires, at once or at the
/// next fence. Swap: 1 and 2 for a compare-and-swap that failed or succeeded.
HOT_ENTRY void __crsan_md_strong_done(crsan::abi::AccessSite *S, uint64_t A,
                                      uint32_t Swap) {
  using namespace crsan::device;
  if (!isShadowed() || !(S->Flags & ReadsMemory) || !canRace(A))
    return;
  const Self Me;
  const LaneRef T = Me.thread();
  noteSeen(Me.warp().Seen, uint64_t(1) << seenBit(A));
  if (Swap != 1 && (S->Flags & IsSwap))
    rememberSwap(Me, *S, A);
  if (Swap == 2)
    takeLock(T, A);
  const bool InShared = spaceOf(A) == Space::Shared;
  if (!InShared) {
    // What the host or another device has written, nobody has published.
    const PageRef Page(A);
    if (!Page.isTracked() || Page.isHost()) {
      acquireEverything(Me);
      return;
    }
  }
  const SyncCells From(A);
  const bool Wide = isWide(S->Scope);
  if (S->Order == SyncOrder::Acquire || S->Order == SyncOrder::AcquireRelease) {
    fenceDevice();
    collect(Me, From, Wide);
    activateLocks(Me);
  } else {
    awaitFence(T, From, Wide);
  }
}

/// A fence has happened.
HOT_ENTRY void __crsan_md_fence(uint32_t Scope) {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const Self Me;
  const bool Wide = isWide(SyncScope(Scope));
  noteFence(Me, Wide);
  activateLocks(Me);
  acquirePending(Me, Wide);
}

/// A barrier of lanes of this warp is about to happen. It happens here as well:
/// what the others accessed is before this lane's departure only once they have
/// all arrived.
HOT_ENTRY void __crsan_md_warp_barrier(uint32_t Mask) {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const Self Me;
  const LaneRef T = Me.thread();
  T.WarpArrive = tick(Me);
  __nvvm_bar_warp_sync(Mask);
  T.WarpDepart = tick(Me);
}

/// What the warps of a block hand on at its barriers, of what they know.
ENTRY void __crsan_md_give(uint32_t Now) {
  using namespace crsan::device;
  const Self Me;
  release(Me, SyncCells::at(SyncCells::blockCellOf(BlockBarrier)), Now);
  setFlags(Me.firstWarpState().Flags, HasNews);
}
ENTRY void __crsan_md_take() {
  using namespace crsan::device;
  const Self Me;
  acquire(Me, SyncCells::at(SyncCells::blockCellOf(BlockBarrier)));
}

/// A barrier of all threads of the block is about to happen.
HOT_ENTRY void __crsan_md_block_arrive() {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const Self Me;
  const LaneRef T = Me.thread();
  const uint32_t Now = tick(Me);
  T.WarpArrive = Now;
  if (isFirstHere())
    raise(Me.firstWarpState().Arrive[(T.Barriers + 1) & 1], Now);
  if (loadNear(Me.warp().Flags) & HasKnown)
    __crsan_md_give(Now);
}

/// It has happened.
HOT_ENTRY void __crsan_md_block_depart() {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const Self Me;
  WarpState &W = Me.warp();
  const LaneRef T = Me.thread();
  const uint32_t Barriers = ++T.Barriers;
  // All warps go on from the same clock.
  const uint32_t Now = loadRelaxed(Me.firstWarpState().Arrive[Barriers & 1]);
  const uint32_t Flags = loadRelaxed(Me.firstWarpState().Flags);
  // Each lane for itself, as in tick.
  raiseClock(W, Now);
  raise(W.Barrier, Now);
  T.WarpDepart = Now;
  if (Flags & HasNews)
    __crsan_md_take();
}

/// This thread is about to arrive at an object: a named barrier, an mbarrier, a
/// barrier of the cluster.
HOT_ENTRY void __crsan_md_publish(uint64_t Object, uint32_t Scope) {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const Self Me;
  const uint32_t Now = tick(Me);
  publish(Me, SyncCells(Object), isWide(SyncScope(Scope)), Now, Now);
}

/// This thread has waited for those who arrive at an object.
HOT_ENTRY void __crsan_md_collect(uint64_t Object, uint32_t Scope) {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const Self Me;
  collect(Me, SyncCells(Object), isWide(SyncScope(Scope)));
}

/// Something has happened that may order this thread after any other, or
/// others after this one.
HOT_ENTRY void __crsan_md_unknown() {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const Self Me;
  // The kernel is of another unit, which did not know.
  if (!(loadNear(Me.warp().Flags) & Opaque) &&
      !(loadRelaxed(metadata().Foreign) & ForeignUnknown))
    setFlags(metadata().Foreign, ForeignUnknown);
  acquireEverything(Me);
}

/// This thread is about to call a function of another unit, ...
HOT_ENTRY void __crsan_md_calling() {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const LaneRef T = Self().thread();
  T.Flags |= IsCalling;
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().Foreign), 1);
}
/// ... which says so if it was compiled for metadata mode, ...
HOT_ENTRY void __crsan_md_called() {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const LaneRef T = Self().thread();
  if (!(T.Flags & IsCalling))
    return;
  T.Flags &= ~IsCalling;
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().Foreign), -1);
}
/// ... or else may have done anything. From then on every acquire may be one of
/// something that such a function released.
HOT_ENTRY void __crsan_md_returned() {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  const Self Me;
  const LaneRef T = Me.thread();
  if (!(T.Flags & IsCalling))
    return;
  T.Flags &= ~IsCalling;
  setFlags(metadata().Foreign, ForeignUnknown);
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().Foreign), -1);
  __nvvm_atom_add_gen_ll(
      reinterpret_cast<long long *>(&metadata().ForeignCalls), 1);
  acquireEverything(Me);
}

#endif // CRSAN_DEVICE_METADATA_H
