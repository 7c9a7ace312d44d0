// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory of metadata mode.
#ifndef CRSAN_ABI_METADATA_H
#define CRSAN_ABI_METADATA_H

#include "crsan/abi/Cell.h"
#include "crsan/abi/Clock.h"
#include "crsan/abi/Launch.h"
#include "crsan/abi/Record.h"
#include "crsan/abi/Site.h"

namespace crsan::abi {

/// How long blocks have been followed, and how long they may be. Times are in
/// nanoseconds of the device's global timer, unless they say otherwise.
struct FollowLimit {
  /// The latest grid for which it was decided whether it is followed: its key
  /// (keyOfGrid, GridSample.h) in the upper half, and LatestFlags.
  uint64_t Latest;
  /// Grids with a smaller %gridid are followed without any question.
  uint64_t From;
  uint64_t FirstBegan; ///< When the first grid began; 0: none has.
  uint64_t Spent;      ///< The sum of all KernelTime::Spent.
  /// The blocks of a kernel are followed until they have taken so much time, in
  /// microseconds. 0: they always are.
  uint32_t KernelTime;
  /// Later ones are followed while all that are take at most so much of the
  /// time since FirstBegan.
  uint32_t Percent;
  /// One grid is followed until it has taken so much time, in microseconds. 0:
  /// each is followed to its end.
  uint32_t GridTime;
  uint32_t GridsStopped; ///< Grids that were followed no longer than that.
};
static_assert(sizeof(FollowLimit) == 48 && offsetof(FollowLimit, Latest) == 0 &&
              offsetof(FollowLimit, From) == 8 &&
              offsetof(FollowLimit, FirstBegan) == 16 &&
              offsetof(FollowLimit, Spent) == 24 &&
              offsetof(FollowLimit, KernelTime) == 32 &&
              offsetof(FollowLimit, Percent) == 36 &&
              offsetof(FollowLimit, GridTime) == 40 &&
              offsetof(FollowLimit, GridsStopped) == 44);
/// In FollowLimit::Latest. IsLeftOut: the grid is not followed, or no longer.
/// IsLast: other grids may begin before it ends, so that all others are
/// followed.
enum LatestFlags : uint32_t { IsLeftOut = 1, IsLast = 2 };

/// The time in which blocks ran that were followed, of a kernel's grids of
/// about one size, without the first of these grids.
struct KernelTime {
  uint64_t Spent, Until; ///< How much, and up to when.
  uint64_t First;        ///< The first of these grids (%gridid + 1).
  uint64_t Reserved;
};
static_assert(sizeof(KernelTime) == 32 && offsetof(KernelTime, Spent) == 0 &&
              offsetof(KernelTime, Until) == 8 &&
              offsetof(KernelTime, First) == 16 &&
              offsetof(KernelTime, Reserved) == 24);
inline constexpr uint32_t NumKernelTimes = 1u << 10;
/// Once grids may overlap, blocks of isolated kernels are followed for so many
/// times as long: two grids race only in some of their launches.
inline constexpr uint32_t OverlapFactor = 16;
/// Of the latest block whose first warp has one number and that was followed:
/// the cycle in which it began, that in which its grid has taken
/// FollowLimit::GridTime, the element of its KernelTime, and a hash of the
/// block and its grid.
struct BlockTime {
  uint64_t Began, Until;
  uint32_t Kernel, Block;
};
static_assert(sizeof(BlockTime) == 24 && offsetof(BlockTime, Began) == 0 &&
              offsetof(BlockTime, Until) == 8 &&
              offsetof(BlockTime, Kernel) == 16 &&
              offsetof(BlockTime, Block) == 20);
/// Of a multiprocessor. Thousands of blocks would contend for the global timer,
/// and for one counter. Cycles are those of its own counter.
struct NearTime {
  uint64_t Noted; ///< The cycle in which it last added to a KernelTime.
  uint64_t Asked; ///< The cycle in which a block last asked for HasTime.
  /// 1: all that is followed had taken less than FollowLimit::Percent.
  uint32_t HasTime;
  /// The key of the last grid that was left out and asked on this
  /// multiprocessor, or 0.
  uint32_t LeftOut;
  uint64_t Reserved;
};
static_assert(sizeof(NearTime) == 32 && offsetof(NearTime, Noted) == 0 &&
              offsetof(NearTime, Asked) == 8 &&
              offsetof(NearTime, HasTime) == 16 &&
              offsetof(NearTime, LeftOut) == 20 &&
              offsetof(NearTime, Reserved) == 24);

/// The head of the device memory of metadata mode, one per context. The tables
/// follow at the offsets below. The host zeroes all of it, then sets the first
/// two fields, and later the entries of the page table as memory is allocated.
struct Metadata {
  uint64_t SharedShadow; ///< The cells of shared memory, or 0.
  uint64_t SharedBytes;  ///< The size of SharedShadow in bytes.
  uint32_t NextSite;     ///< The largest AccessSite::Index assigned so far.

  // The host reads these three when all kernels have ended.
  /// 1: a thread may have acquired from everything, and may have released.
  uint32_t HasLearned;
  uint32_t IsUsedUp; ///< 1: a clock is as large as a cell can hold.
  /// How many calls are under way of functions of other translation units that
  /// have not said that they are instrumented; and ForeignUnknown.
  uint32_t Foreign;

  uint64_t PairsDropped; ///< Races that found no free RacingPair.
  uint64_t ForeignCalls; ///< Calls of functions that are not instrumented.
  uint32_t NumSites;     ///< Accesses whose sites have an index.
  uint32_t SitesRefused; ///< Sites for which no index was left.
  /// Grids may run at the same time. Set by the host, and by kernels that may
  /// start grids.
  uint32_t HasOverlaps;
  /// Set by the host before the first graph is launched: all launches of a node
  /// of a graph have one %gridid (seen on an H100).
  uint32_t GridsRepeat;
  uint64_t Streams; ///< Device address of the StreamOrder, or 0.
  /// The largest %gridid of a grid that may have executed a fence between
  /// proxies.
  uint64_t FencedGrid;
  uint32_t ProxyFences; ///< How many such fences there were, of all grids.
  /// With Sampled: of the first grids of kernels one in so many is followed,
  /// drawn by Salt. At least 1.
  uint32_t FollowOneIn;
  uint32_t Salt;
  uint32_t GridsLeftOut; ///< Grids that were not followed.
  uint64_t HostNotes; ///< Accesses of host code that were judged (HostNote.h).
  FollowLimit Limit;
  /// How often a warp did not tell of a possible race, since a grid that is not
  /// followed, or not to its end, may run beside its own.
  uint64_t RacesUntold;
  uint64_t Pad[12];
};
static_assert(
    sizeof(Metadata) == 256 && offsetof(Metadata, SharedShadow) == 0 &&
    offsetof(Metadata, SharedBytes) == 8 &&
    offsetof(Metadata, NextSite) == 16 &&
    offsetof(Metadata, HasLearned) == 20 &&
    offsetof(Metadata, IsUsedUp) == 24 && offsetof(Metadata, Foreign) == 28 &&
    offsetof(Metadata, PairsDropped) == 32 &&
    offsetof(Metadata, ForeignCalls) == 40 &&
    offsetof(Metadata, NumSites) == 48 &&
    offsetof(Metadata, SitesRefused) == 52 &&
    offsetof(Metadata, HasOverlaps) == 56 &&
    offsetof(Metadata, GridsRepeat) == 60 &&
    offsetof(Metadata, Streams) == 64 && offsetof(Metadata, FencedGrid) == 72 &&
    offsetof(Metadata, ProxyFences) == 80 &&
    offsetof(Metadata, FollowOneIn) == 84 && offsetof(Metadata, Salt) == 88 &&
    offsetof(Metadata, GridsLeftOut) == 92 &&
    offsetof(Metadata, HostNotes) == 96 && offsetof(Metadata, Limit) == 104 &&
    offsetof(Metadata, RacesUntold) == 152 && offsetof(Metadata, Pad) == 160);
/// In Metadata::Foreign: a function may have synchronised in a way that the
/// translation unit of its kernel does not know of.
inline constexpr uint32_t ForeignUnknown = 1u << 31;

/// The offsets of the tables from the head, in bytes.
inline constexpr uint64_t
    /// uint64_t[NumPages], by pageIndex.
    PagesAt = sizeof(Metadata),
    /// uint16_t[NumSplitPages][PartsOfPage]: the numbers of allocations.
    OwnersOfSplitPagesAt = PagesAt + uint64_t(8) * NumPages,
    /// WarpState[NumWarps], by the warp's number.
    WarpsAt = OwnersOfSplitPagesAt + uint64_t(2) * NumSplitPages * PartsOfPage,
    /// LaneStates[NumWarps], by the warp's number.
    LanesAt = WarpsAt + sizeof(WarpState) * NumWarps,
    /// uint32_t[NumWarps][KnownEntries]: the vector clock of each warp.
    KnownAt = LanesAt + sizeof(LaneStates) * NumWarps,
    /// SyncCell[NumSyncCells].
    SyncCellsAt = KnownAt + uint64_t(4) * KnownEntries * NumWarps,
    /// RacingPair[NumRacingPairs], by hash.
    PairsAt = SyncCellsAt + sizeof(SyncCell) * NumSyncCells,
    /// uint32_t[NumQuietPairs], by quietIndex: keys of quiet pairs.
    QuietPairsAt = PairsAt + sizeof(RacingPair) * NumRacingPairs,
    /// uint64_t[MaxSites]: addresses of AccessSites, by AccessSite::Index.
    SitesAt = QuietPairsAt + sizeof(uint32_t) * NumQuietPairs,
    /// uint64_t[NumFirstGrids], by kernelTag.
    FirstGridsAt = SitesAt + uint64_t(8) * MaxSites,
    /// KernelTime[NumKernelTimes], by a hash of the kernel and its grid's size.
    KernelTimesAt = FirstGridsAt + uint64_t(8) * NumFirstGrids,
    /// BlockTime[NumWarps], by the number of a block's first warp.
    BlockTimesAt = KernelTimesAt + sizeof(KernelTime) * NumKernelTimes,
    /// NearTime[NumNearPlaces], by multiprocessor.
    NearTimesAt = BlockTimesAt + sizeof(BlockTime) * NumWarps,
    /// uint64_t[NumNearPlaces], by multiprocessor: how many blocks were left
    /// out, each by itself.
    BlocksLeftOutAt = NearTimesAt + sizeof(NearTime) * NumNearPlaces,
    /// GridStart[NumGridStarts], by hash of the grid.
    GridStartsAt = BlocksLeftOutAt + uint64_t(8) * NumNearPlaces,
    /// NearGridStart[NumNearPlaces][NumNearGrids].
    NearGridStartsAt = GridStartsAt + sizeof(GridStart) * NumGridStarts,
    /// MaxClock[NumMaxClocks], by multiprocessor.
    MaxClocksAt =
        NearGridStartsAt + sizeof(NearGridStart) * NumNearPlaces * NumNearGrids,
    /// Victim[NumVictims], by hash of the word.
    VictimsAt = MaxClocksAt + sizeof(MaxClock) * NumMaxClocks,
    /// GridRuns[NumGridRuns], by hash of the grid.
    GridRunsAt = VictimsAt + sizeof(Victim) * NumVictims,
    /// RunClock[NumStreams][NumRunClocks].
    RunClocksAt = GridRunsAt + sizeof(GridRuns) * NumGridRuns,
    /// uint64_t[NumOrderedGrids], by hash of both grids.
    OrderedGridsAt = RunClocksAt + sizeof(RunClock) * NumStreams * NumRunClocks,
    /// uint64_t[NumWarps][NumMeetings], by the number of a block's first warp:
    /// accessors of threads at a barrier of the block.
    MeetingsAt = OrderedGridsAt + uint64_t(8) * NumOrderedGrids,
    /// uint32_t[NumWarps], by the number of a block's first warp: the largest
    /// clock with which a warp came to a barrier whose clock the warps agree
    /// on.
    AgreementsAt = MeetingsAt + uint64_t(8) * NumMeetings * NumWarps,
    /// The size of it all.
    MetadataBytes = AgreementsAt + uint64_t(4) * NumWarps;

} // namespace crsan::abi

#endif // CRSAN_ABI_METADATA_H
