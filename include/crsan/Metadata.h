//===- Metadata.h - What metadata mode keeps in the device's memory -*- C++
//-*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Freestanding, like ABI.h, and part of the same contract (abi::Version).
// docs/metadata.md says what it is for. In short:
//   * Accessor, 64 bits: who accessed a word last, when, and by which site;
//   * Cell: the last writer and a reader of a 4-byte word (iGUARD 6.1);
//   * WarpState, LaneStates: clocks and what they were at the last
//     synchronisation of each kind;
//   * SyncCell: what whoever acquires from an object comes to know.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_METADATA_H
#define CRSAN_METADATA_H

#include "MemoryModel.h"

#include <cstddef>
#include <cstdint>

namespace crsan::abi {

/// Shadow is mapped in pages: one entry of the page table for 2 MiB of the
/// program's memory.
inline constexpr unsigned PageShift = 21;
inline constexpr uint64_t PageBytes = uint64_t(1) << PageShift;
inline constexpr unsigned PageIndexBits = 20;
inline constexpr uint32_t NumPages = 1u << PageIndexBits;

/// A page table entry: 0 where nothing is tracked, else the shadow's address
/// (a multiple of 4096, below 2^48), PageHost, PageOwners, and in bits 48-62
/// the address bits above the index, plus 1, so that two pages of one index are
/// told apart, and an exact page from all others by one comparison of these 16
/// bits.
inline constexpr unsigned PageTagAt = 48, PageOwnerAt = 3, NumPageOwners = 512;
enum PageFlags : uint64_t {
  PageHost = 4, ///< The host may access it while a kernel runs.
  /// The number of the allocation that has this page, and all that it lies in,
  /// to itself; 0: none, or the host may access it.
  PageOwners = uint64_t(NumPageOwners - 1) << PageOwnerAt,
  PageCached = uint64_t(1) << 63,
};
inline constexpr uint64_t pageIndex(uint64_t Address) {
  return (Address >> PageShift) & (NumPages - 1);
}
inline constexpr uint64_t pageTag(uint64_t Address) {
  return ((Address >> (PageShift + PageIndexBits)) & 0x7fff) + 1;
}
inline constexpr uint64_t pageEntry(uint64_t Address, uint64_t Shadow,
                                    uint64_t Flags) {
  return pageTag(Address) << PageTagAt | Shadow | Flags;
}
/// Whether an entry is of the page that `Address` is in.
inline constexpr bool isPageOf(uint64_t Entry, uint64_t Address) {
  return (Entry & ~PageCached) >> PageTagAt == pageTag(Address);
}

/// An accessor, from its lowest bit: lane, warp, which bytes of the word,
/// whether several lanes did the same, strong, of a strong one whether its
/// scope is wider than the block, of another one whether a lock was held, site;
/// then the clock and, in a cached cell, the tag at the top. Who it is fits
/// into the lower half and when into the upper one, where a comparison of
/// halves finds it.
struct AccessorLayout {
  static constexpr unsigned LaneAt = 0, WarpAt = 5, BytesAt = 20, SiteAt = 26,
                            ClockAt = 42, TagAt = 59;
  static constexpr uint64_t Several = uint64_t(1) << 23,
                            Strong = uint64_t(1) << 24,
                            WideOrLocked = uint64_t(1) << 25;
  static constexpr uint64_t LaneMask = uint64_t(31) << LaneAt,
                            Who = (uint64_t(1) << BytesAt) - 1,
                            BytesMask = uint64_t(7) << BytesAt,
                            SiteMask = uint64_t(0xffff) << SiteAt;
  /// Lane, warp and clock.
  static constexpr uint64_t WhoAndWhen = Who | ~uint64_t(0) << ClockAt;
  /// All that is equal if lanes of a warp do the same.
  static constexpr uint64_t SameButLane = ~(LaneMask | Several | WideOrLocked);
  /// Set in the accessor that an asynchronous copy leaves where it writes,
  /// which is whole words of shared memory: no comparison takes it for what is
  /// of the past, nor for the thread's own. Below the highest bit of its clock
  /// is that of its issue.
  static constexpr unsigned InFlightAt = 63;
  static constexpr uint64_t InFlight =
      uint64_t(1) << InFlightAt | BytesMask | Several;
};

/// Two accessors of one word.
struct Cell {
  uint64_t Writer;
  uint64_t Reader;
};
static_assert(sizeof(Cell) == 16);

/// Bytes of shadow for a page: all words, or one cell for every 32 words,
/// direct-mapped and tagged (ScoRD IV-B), which is 12.5 %.
inline constexpr uint64_t ExactPageShadow = PageBytes / 4 * sizeof(Cell);
inline constexpr unsigned CacheWays = 32;
inline constexpr uint64_t CachedPageShadow = ExactPageShadow / CacheWays;
static_assert(ExactPageShadow == 4 * PageBytes);
static_assert(CachedPageShadow * 8 == PageBytes);

/// Warps with a state of their own; a warp's number is its place in the grid
/// modulo this. Twice as many as any device can hold at a time, and more.
inline constexpr unsigned WarpBits = 15;
inline constexpr uint32_t NumWarps = 1u << WarpBits;

/// What is known of other warps: clocks by warp number modulo this, the largest
/// where several share an entry ("plausible clocks", Torres-Rojas and Ahamad).
inline constexpr uint32_t KnownEntries = 32;

/// A warp's, 112 bytes; what every access needs comes first. Zero at first;
/// never reset, so that the clocks of two blocks that have the same number one
/// after the other differ.
struct WarpState {
  uint32_t Clock; ///< Rises with each synchronisation of any of its lanes.
  /// Accesses of the block with smaller clocks were before its last barrier.
  uint32_t Barrier;
  uint32_t Floor; ///< No access of this grid has a smaller clock.
  /// Number of the block's first warp, warps of the block in bits 16-21, this
  /// warp's place among them in bits 22-26, and NeedsCare to TellsLanes.
  uint32_t Place;
  uint64_t SharedCells; ///< Shadow of the block's shared memory, or 0.
  uint32_t LockedLanes; ///< Lanes that hold a lock.
  uint32_t Start;       ///< Clock when the block began.
  uint32_t Flags;       ///< WarpFlags.
  uint32_t
      Alive;     ///< Lanes that have entered the kernel and not left it; Mixed.
  uint64_t Grid; ///< %gridid.
  uint64_t Block; ///< Linear index of the block in its grid.
  /// Of a block's first warp: the largest clock with which any of its threads
  /// came to its last two barriers.
  uint32_t Arrive[2];
  uint64_t Checked;   ///< Accesses that came to be checked, one a lane.
  uint64_t Unchecked; ///< Those of them to memory without shadow.
  /// Where its lanes, and whoever they know of, have read strongly: a bit for
  /// each hash of 16 bytes (seenBit).
  uint64_t Seen;
  uint32_t News; ///< Of a block's first warp: WarpNews.
  /// Checks that are yet to be thorough: what their cells would forget is kept
  /// (NeedsCare is set as well).
  uint32_t Thorough;
  /// Accesses of the warp with smaller clocks were before the last barrier at
  /// which all its lanes met.
  uint32_t Met;
  uint32_t SyncCells; ///< The first of its block's SubCells.
  /// The clock, or a smaller one, when a lane first came to know of others by
  /// an acquire; ~0: none has.
  uint32_t Heard;
  /// Of a block's first warp: larger than the clock of the block's last barrier
  /// if some warp has handed on what it knows since then.
  uint32_t NewsAt;
};
static_assert(sizeof(WarpState) == 112);

/// The number of a location's bit in WarpState::Seen.
inline constexpr uint32_t seenBit(uint64_t Address) {
  return uint32_t(Address >> 4) * 0x9e3779b1u >> 26;
}

/// In WarpState::Place: the clock is about to be used up, or the runtime is to
/// look at all accesses (Thorough); a lane has executed a
/// fence, so that what it writes may release; a lane has acquired something
/// that no barrier of the block has handed on yet; it is told which lanes of
/// the block have told others (SyncCell::Lanes), as it is of the first blocks
/// of a grid, the same for all warps of a block.
inline constexpr uint32_t NeedsCare = 1u << 31, HasFenced = 1u << 30,
                          HasFresh = 1u << 29, TellsLanes = 1u << 28;

/// In WarpState::Alive: two live blocks have the same number, or had until the
/// next one came: nothing is judged.
inline constexpr uint32_t Mixed = 1u << 31, AliveMask = 0xffff;

enum WarpFlags : uint32_t {
  Leaky = 2,    ///< May end without a word: alive means nothing.
  HasKnown = 4, ///< Its row of the table of what is known is not all zero.
  Opaque = 8,   ///< Its grid may synchronise in ways that are not understood.
  // From bit 16 on: from which of the block's sync cells its lanes have
  // acquired (runtime/device/SyncCells.h).
};

/// Never taken back: of this block, or of one before it.
enum WarpNews : uint32_t {
  AlwaysNews = 1, ///< Barriers may hand on what nobody is told of.
  Uneven = 2,     ///< Threads may have passed unequally many barriers.
  /// A function that is not followed may have been at a barrier, and may have
  /// acquired anything before it. From UnfollowedCall on: how many threads are
  /// in a function that may be such a one.
  Unfollowed = 4,
  UnfollowedCall = 8,
};

/// What the lanes of a warp keep, field by field, so that lanes which come
/// together access it together. Clocks are those of the warp; those of an
/// earlier block are smaller than any of this one, and so say nothing.
struct LaneStates {
  /// WarpState::Start, once the lane has set what is not a clock, all up to
  /// Flags, to 0.
  uint32_t Epoch[32];
  uint32_t Barriers[32]; ///< Barriers of the whole block that it has passed.
  /// At its last fence of at least the scope; 0: none.
  uint32_t FenceBlock[32], FenceDevice[32];
  uint32_t Acquire[32]; ///< When it last came to know of another thread.
  /// Whom it has told at its last releases: of the block's sync cells, a bit
  /// for each, and of the others two, 0: none.
  uint32_t ToldInBlock[32], ToldWide[32];
  /// Sync cells that were read, for the next fence: a bit for each of the
  /// block's, then the number of others.
  uint32_t Pending[32];
  uint32_t NumLocks[32]; ///< Locks held (iGUARD 6.3): more than 4 are counted.
  uint32_t ActiveLocks[32]; ///< Bit I: Locks[I] has been followed by a fence.
  uint32_t Locks[4][32];    ///< Hashes of their addresses, 0: free.
  uint32_t Flags[32];       ///< LaneFlags. The last that is reset.
  /// When it may last have told others of what it had done, in the upper half,
  /// and the time before in the lower: both in one piece.
  uint64_t Given[32];
  /// When it last came to a barrier of lanes of the warp, or of the block, and
  /// when it was last through one of all of them; those at which all lanes came
  /// together are WarpState::Met's.
  uint32_t WarpArrive[32], WarpDepart[32];
  /// When it was last through a barrier of some lanes of the warp only, whom it
  /// may have heard of at such barriers since the last of all lanes, and what
  /// others tell it of that.
  uint32_t PartDepart[32], MetLanes[32], ToldLanes[32];
  uint32_t Release[32]; ///< At its last release of any scope.
  /// The clocks of its own that it has told of at its last releases.
  uint32_t ToldInBlockClock[32], ToldWideClock[32];
  uint32_t PendingWide[2][32]; ///< The first of those beyond the block.
  /// Of its asynchronous copies: the clocks of its last commits, the latest
  /// first. A copy of a later group is issued at a larger one.
  uint32_t Commits[4][32];
  /// What it has last waited for, the latest first: copies that were issued by
  /// the clock in the upper half, at the clock in the lower.
  uint64_t Waited[3][32];
  /// Where the last ones write, in words of shared memory from 1; 0: it has
  /// waited for the copy.
  uint16_t Copies[32][32];
  uint32_t NextCopy[32]; ///< Which of those is the next, if it is free.
};
static_assert(sizeof(LaneStates) == 54 * 128);
/// Lanes are 4 bytes apart, and fields that are reset 128.
inline constexpr uint32_t NumResetFields =
    offsetof(LaneStates, Given) / 128 - 1;

enum LaneFlags : uint32_t {
  IsCalling = 1, ///< Has called a function of another unit.
  HasLeft = 2,   ///< Has left its kernel.
};

/// Where the clocks of a grid began.
struct GridStart {
  /// The grid's key in the upper half, the clock in the lower; 0: free.
  uint64_t KeyAndClock;
  /// Where those of grids began that have ended, and are not ordered before it.
  uint32_t Horizon;
  uint32_t IsFirst; ///< Of its kernel.
};
/// The largest clock of a warp that has ended, by multiprocessor: one for all
/// would be everybody's.
struct MaxClock {
  uint32_t Clock;
  uint32_t Pad[7];
};
inline constexpr uint32_t NumMaxClocks = 32;
inline constexpr uint32_t NumGridStarts = 1u << 10;

/// Cells of objects: the first half by location, for all; the other half by
/// block, SubCells each, for what its threads tell each other.
inline constexpr uint32_t NumObjectCells = 1u << 15;
inline constexpr uint32_t NumWideCells = NumObjectCells / 2, SubCells = 8;
/// Behind those, the cell of each block's barrier, by the block's first warp.
/// No other live block uses it: what one warp takes from it, all of them do.
inline constexpr uint32_t NumSyncCells = NumObjectCells + NumWarps;
/// What whoever acquires from an object comes to know. 256 bytes.
struct SyncCell {
  uint64_t Seen; ///< As WarpState's.
  /// Of one of the block's: which lanes of its warps, by their numbers, have
  /// told of themselves, and in the upper half since which of its barriers.
  uint64_t Lanes;
  uint32_t Pad[28];
  uint32_t Known[KnownEntries];
};
static_assert(sizeof(SyncCell) == 256);

//===----------------------------------------------------------------------===//
// Which launch a grid is, and which launches are ordered before it. A *run* is
// one launch, or several of one stream between which nothing comes to or goes
// from other streams. The host counts the runs of each stream and writes down
// what each comes after; the stream itself writes which run it has got to.
//===----------------------------------------------------------------------===//

/// Streams of a context that are told apart, and runs that are remembered.
inline constexpr uint32_t NumStreams = 32, NumRuns = 1u << 12;

/// Written by the host before the first launch of the run.
struct StreamRun {
  uint32_t Number;   ///< From 1, over all streams; 0: about to be written.
  uint32_t Stream;   ///< Its number.
  uint32_t Sequence; ///< Of the run in its stream, from 1.
  uint32_t Launches; ///< So far.
  /// Which kernels and shapes are among them (kernelBit); other bits may be
  /// set, too.
  uint64_t Kernels[4];
  /// By stream: the sequence of the last run that is ordered before this one.
  uint32_t Before[NumStreams];
};
static_assert(sizeof(StreamRun) == 176);

/// Pinned, mapped host memory, one a context in which there are streams besides
/// the default one.
struct StreamOrder {
  /// There may be grids of which no run tells, or orders that nobody has told
  /// the host of: nothing can be said.
  uint32_t IsOff;
  /// By the device: a grid has begun that may order what no stream orders
  /// (EnterSignals).
  uint32_t HasSignalled;
  uint32_t Reserved[14];
  uint32_t
      Current[NumStreams]; ///< By streams: the number of the last run begun.
  StreamRun Runs[NumRuns]; ///< By number.
};
static_assert(sizeof(StreamOrder) == 64 + 4 * NumStreams + 176 * NumRuns);

/// Which runs a grid may be of: it is of one of them.
struct GridRuns {
  uint64_t Grid; ///< %gridid + 2; 0: free; 1: about to be written.
  uint64_t Reserved;
  uint32_t Runs[NumStreams]; ///< By stream: a number, or 0.
};
static_assert(sizeof(GridRuns) == 144);
inline constexpr uint32_t NumGridRuns = 1u << 10;

/// Where the clocks of a run's first grid began, by stream and sequence.
struct RunClock {
  uint32_t Sequence;
  uint32_t Clock;
};
inline constexpr uint32_t NumRunClocks = 64;

/// Pairs of grids that were found to be ordered, hashed.
inline constexpr uint32_t NumOrderedGrids = 1u << 10;

/// A kernel, by its mangled name.
inline constexpr uint32_t kernelTag(const char *Name, size_t Length) {
  uint32_t Hash = 0x811c9dc5u; // FNV-1a.
  for (size_t I = 0; I < Length; ++I)
    Hash = (Hash ^ uint8_t(Name[I])) * 0x01000193u;
  return Hash;
}
/// The first grid of each kernel, plus 1, by its tag.
inline constexpr uint32_t NumFirstGrids = 1u << 10;
/// The bit of a kernel that is launched with a grid and a block of this shape.
inline constexpr uint32_t kernelBit(uint32_t Tag, uint32_t GridX,
                                    uint32_t GridY, uint32_t GridZ,
                                    uint32_t BlockX, uint32_t BlockY,
                                    uint32_t BlockZ) {
  const uint32_t Extents[] = {GridX, GridY, GridZ, BlockX, BlockY, BlockZ};
  uint32_t Hash = Tag;
  for (uint32_t Extent : Extents)
    Hash = (Hash ^ Extent) * 0x9e3779b1u + (Hash >> 15);
  return Hash >> 24;
}

/// A pair of sites that raced, at one distance of their threads, and the record
/// that says so.
struct RacingPair {
  uint32_t Key;  ///< Both site indices; 0: free.
  uint32_t Slot; ///< Of the record, plus 1.
  uint64_t Hits;
};
inline constexpr uint32_t NumRacingPairs = 1u << 12;
/// A pair has an entry for each abi::Distance, at an index that leaves it as
/// the remainder.
inline constexpr uint32_t NumDistances = 4;

/// An accessor that its cell may have forgotten, and with what word: the second
/// is the first, mixed with that. 16 by the hash of the word.
struct alignas(16) Victim {
  uint64_t Accessor, Mixed;
};
inline constexpr uint32_t NumVictims = 1u << 16, VictimWays = 16;

enum AccessRoles : uint32_t {
  /// Not atomic: strong in PTX and weak in C++ (WeakVolatile).
  IsVolatile = 1,
  /// A compare-and-swap that takes a lock, if it succeeds: its thread gives the
  /// lock back in any case.
  TakesLock = 2,
};

/// Device memory, one an access, initialised by the pass (`AccessesPrefix`).
struct AccessSite {
  uint64_t Id;   ///< As in the site table.
  uint32_t Size; ///< Bytes; 0: an operand of the check.
  uint8_t Flags; ///< AccessFlags.
  abi::Scope Scope;
  MemoryOrder Order;
  uint8_t MemorySpace;
  /// Given by the device at first use. Negative as long as there is none.
  uint32_t Index;
  /// Its place among those of its function, which are given theirs together:
  /// the first one a multiple of a power of two that is not less than `Count`.
  uint32_t Number;
  uint32_t Count; ///< Of the function's first site: how many there are.
  uint32_t Roles; ///< AccessRoles.
};
static_assert(sizeof(AccessSite) == 32);
/// AccessSite::Index: none yet, about to be given, and none left.
inline constexpr uint32_t NoIndexYet = 1u << 31, IndexClaimed = ~0u,
                          NoIndexLeft = ~1u;
/// AccessSite[]; the unit's identity follows.
inline constexpr char AccessesPrefix[] = "__crsan_accesses_";
/// Sites that cells can name; accesses of later ones are not checked.
inline constexpr uint32_t MaxSites = 1u << 16;

/// Head of the device memory that Config::Metadata points to, one a context.
/// The tables follow it at fixed places; all of it is zeroed by the host, which
/// then sets the first two fields, and the page table as memory is allocated.
struct Metadata {
  uint64_t SharedShadow; ///< Cells of shared memory, or 0.
  uint64_t SharedBytes;  ///< Bytes of SharedShadow.
  uint32_t NextSite;     ///< The largest index given so far.
  // What the host looks at when all kernels have ended:
  uint32_t HasLearned; ///< A thread may have known everything, and told others.
  uint32_t IsUsedUp;   ///< A clock is as large as a cell can hold.
  /// Calls under way of other units' functions that have not said that they are
  /// instrumented, and ForeignUnknown.
  uint32_t Foreign;
  uint64_t PairsDropped; ///< Races that found no free RacingPair.
  uint64_t ForeignCalls; ///< Of functions that are not instrumented.
  uint32_t NumSites;     ///< That have an index, ...
  uint32_t SitesRefused; ///< ... and that found none left.
  uint32_t HasOverlaps;  ///< The host says that grids may run side by side.
  uint32_t Reserved;
  uint64_t Streams; ///< Device address of the StreamOrder, or 0.
  uint64_t Pad[23];
};
static_assert(sizeof(Metadata) == 256);
/// A function may have synchronised in a way that the unit of its kernel does
/// not understand.
inline constexpr uint32_t ForeignUnknown = 1u << 31;

/// Where the tables are, in bytes from the head.
inline constexpr uint64_t
    PagesAt = sizeof(Metadata),                       ///< uint64_t[NumPages].
    WarpsAt = PagesAt + uint64_t(8) * NumPages,       ///< WarpState[NumWarps].
    LanesAt = WarpsAt + sizeof(WarpState) * NumWarps, ///< LaneStates[NumWarps].
    KnownAt = LanesAt + sizeof(LaneStates) * NumWarps,
    ///< uint32_t[NumWarps][KnownEntries].
    SyncCellsAt = KnownAt + uint64_t(4) * KnownEntries * NumWarps,
    ///< SyncCell[NumSyncCells].
    PairsAt = SyncCellsAt + sizeof(SyncCell) * NumSyncCells,
    ///< RacingPair[NumRacingPairs].
    SitesAt = PairsAt + sizeof(RacingPair) * NumRacingPairs,
    ///< Addresses of AccessSites by index, MaxSites of them.
    FirstGridsAt = SitesAt + uint64_t(8) * MaxSites,
    ///< uint64_t[NumFirstGrids].
    GridStartsAt = FirstGridsAt + uint64_t(8) * NumFirstGrids,
    ///< GridStart[NumGridStarts].
    MaxClocksAt = GridStartsAt + sizeof(GridStart) * NumGridStarts,
    ///< MaxClock[NumMaxClocks].
    VictimsAt = MaxClocksAt + sizeof(MaxClock) * NumMaxClocks,
    ///< Victim[NumVictims].
    GridRunsAt = VictimsAt + sizeof(Victim) * NumVictims,
    ///< GridRuns[NumGridRuns].
    RunClocksAt = GridRunsAt + sizeof(GridRuns) * NumGridRuns,
    ///< RunClock[NumStreams][NumRunClocks].
    OrderedGridsAt = RunClocksAt + sizeof(RunClock) * NumStreams * NumRunClocks,
    ///< uint64_t[NumOrderedGrids].
    MetadataBytes = OrderedGridsAt + uint64_t(8) * NumOrderedGrids;

/// Flags of a check.
enum CheckFlags : uint32_t {
  CheckCounts = 1,   ///< Of an access that nobody has counted.
  CheckReplaced = 2, ///< Only against what it has replaced in its cell.
  CheckInFlight = 4, ///< Of what an asynchronous copy writes from now on.
};

/// Flags of the call at a kernel's head.
enum EnterFlags : uint32_t {
  /// The kernel may end, or start grids, without the runtime's knowledge.
  EnterLeaky = 1,
  /// The kernel may synchronise in ways that the runtime is not told of.
  EnterOpaque = 2,
  /// Threads of a block may meet at barriers.
  EnterBarriers = 4,
  /// By strong accesses beyond its block, a thread may wait for others that are
  /// not followed (the host, a copy), or tell them.
  EnterSignals = 8,
  /// There may be volatile accesses.
  EnterVolatile = 16,
};

/// Why two accesses are a race, in Record::After of a two-sided record. "The
/// earlier" is Record::Other's, of the thread in Record::Before.
enum RaceReasons : uint64_t {
  SameWarp = 1 << 0,
  SameBlock = 1 << 1,
  OtherGrid = 1 << 2, ///< Another kernel.
  /// What the earlier thread did since: nothing that synchronises, ...
  EarlierNoSync = 1 << 3,
  EarlierFencedBlock = 1 << 4,  ///< ... a fence of block scope, ...
  EarlierFencedDevice = 1 << 5, ///< ... a fence of a wider scope, ...
  EarlierBarrier = 1 << 6,      ///< ... a barrier of its warp or its block.
  /// The later thread has acquired from another thread (before or after).
  LaterAcquired = 1 << 7,
  LaterHoldsLock = 1 << 8,
  EarlierUsedLock = 1 << 9, ///< Holds one, or held one since it began.
  /// The earlier access is one of several reads, perhaps by other threads.
  SeveralReaders = 1 << 10,
  /// The earlier access is an asynchronous copy: its thread has not waited for
  /// it, ...
  EarlierInFlight = 1 << 11,
  /// ... or has, and the other reasons are since then.
  EarlierWaited = 1 << 12,
  /// The other kernel has ended, but nothing orders its launch before this one.
  UnorderedLaunch = 1 << 13,
  /// The earlier thread has ended, which synchronises nothing.
  EarlierEnded = 1 << 14,
  /// The lock that the earlier thread used, it still holds.
  EarlierHoldsLock = 1 << 15,
  /// Behind a fence the earlier thread (or another of its block, after a
  /// barrier) has told of it by a strong access, and the later one (or another
  /// of its block) has read that, but has executed no fence of that scope
  /// since.
  LaterUnfenced = 1 << 16,
};
/// Record::Before of a two-sided record: the earlier thread.
inline constexpr uint64_t earlierThread(uint64_t Block, uint32_t Thread) {
  return Block << 16 | Thread;
}
/// The extent of a block, above the RaceReasons.
inline constexpr uint64_t blockShape(uint32_t X, uint32_t Y, uint32_t Z) {
  return uint64_t(X) << 32 | uint64_t(Y) << 43 | uint64_t(Z) << 54;
}
inline constexpr uint32_t blockExtent(uint64_t After, unsigned Dimension) {
  return uint32_t(After >> (32 + 11 * Dimension)) & 0x7ff;
}
/// Block index where the earlier thread's block is no longer known.
inline constexpr uint64_t UnknownBlock = ~uint64_t(0) >> 16;

} // namespace crsan::abi

#endif // CRSAN_METADATA_H
