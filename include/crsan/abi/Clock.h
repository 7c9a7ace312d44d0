// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clocks of warps and of their lanes.
//
// A warp has one clock, which rises with each synchronisation of any of its
// lanes. A warp's state, its lanes' states and the sync cells say which clocks
// of which warps happen before an access (docs/metadata.md).
#ifndef CRSAN_ABI_CLOCK_H
#define CRSAN_ABI_CLOCK_H

#include <cstddef>
#include <cstdint>

namespace crsan::abi {

/// How many warps have a state of their own. A warp's number is its position in
/// the grid modulo this, which is more than twice what any device can hold at a
/// time.
inline constexpr unsigned WarpBits = 15;
inline constexpr uint32_t NumWarps = 1u << WarpBits;

/// The entries of a vector clock. Warps share an entry by their numbers, and an
/// entry holds the largest of their clocks ("plausible clocks", Torres-Rojas
/// and Ahamad).
inline constexpr uint32_t KnownEntries = 32;

/// The state of a warp. The fields that every check needs come first. A state
/// is zero at first and is never reset, so that the clocks of two blocks that
/// have one number, one after the other, differ.
struct WarpState {
  uint32_t Clock; ///< Rises with each synchronisation of any lane.
  /// Accesses by the block at smaller clocks happened before its last barrier.
  uint32_t Barrier;
  uint32_t Floor; ///< No access by this grid has a smaller clock.
  /// The number of the block's first warp in bits 0-14, the number of warps of
  /// the block in bits 16-21, this warp's position among them in bits 22-26,
  /// and the flags NeedsCare to Stopped in the other bits.
  uint32_t Place;
  uint64_t SharedCells; ///< The cells of the block's shared memory, or 0.
  uint32_t LockedLanes; ///< A mask of the lanes that hold a lock.
  uint32_t Start;       ///< The clock when the block began.
  uint32_t Flags;       ///< WarpFlags.
  /// How many lanes have entered and not left; and Mixed and BeginsMask.
  uint32_t Alive;
  uint64_t Grid;  ///< %gridid.
  uint64_t Block; ///< The linear index of the block in its grid.
  /// Of a block's first warp: the largest clock with which any thread of the
  /// block came to each of its last two barriers.
  uint32_t Arrive[2];
  uint64_t Checked;   ///< Accesses that reached a check, counted by lanes.
  uint64_t Unchecked; ///< Those of them to memory without cells.
  /// A bit (seenBit) for each hash of 16 bytes that a lane of the warp has read
  /// strongly, or that a thread has from which a lane has acquired.
  uint64_t Seen;
  uint32_t News; ///< Of a block's first warp: WarpNews.
  /// How many more checks are to be thorough, that is, to keep as a Victim what
  /// a cell would forget. NeedsCare is set as well.
  uint32_t Thorough;
  /// Accesses by the warp at smaller clocks happened before the last barrier at
  /// which all its lanes met.
  uint32_t Met;
  uint32_t SyncCells; ///< The index of the first of its block's SubCells.
  /// The clock, or a smaller one, at which a lane first acquired from another
  /// thread; ~0: no lane has.
  uint32_t Heard;
  /// Of a block's first warp: larger than the clock of the block's last barrier
  /// if a warp has released to others since then.
  uint32_t NewsAt;
  /// A hash of Grid in the upper half. In the lower half a clock: accesses by
  /// warps of this number at this clock or a larger one are of blocks of that
  /// grid.
  uint64_t GridFirst;
  /// Accesses by the warp at larger clocks came after each fence between the
  /// generic and the asynchronous proxy that a thread may know of.
  uint32_t ProxyFence;
  /// Metadata::ProxyFences when the warp last noted fences of other blocks; ~0:
  /// it has not.
  uint32_t ProxyFencesSeen;
};
static_assert(
    sizeof(WarpState) == 128 && offsetof(WarpState, Clock) == 0 &&
    offsetof(WarpState, Barrier) == 4 && offsetof(WarpState, Floor) == 8 &&
    offsetof(WarpState, Place) == 12 &&
    offsetof(WarpState, SharedCells) == 16 &&
    offsetof(WarpState, LockedLanes) == 24 &&
    offsetof(WarpState, Start) == 28 && offsetof(WarpState, Flags) == 32 &&
    offsetof(WarpState, Alive) == 36 && offsetof(WarpState, Grid) == 40 &&
    offsetof(WarpState, Block) == 48 && offsetof(WarpState, Arrive) == 56 &&
    offsetof(WarpState, Checked) == 64 &&
    offsetof(WarpState, Unchecked) == 72 && offsetof(WarpState, Seen) == 80 &&
    offsetof(WarpState, News) == 88 && offsetof(WarpState, Thorough) == 92 &&
    offsetof(WarpState, Met) == 96 && offsetof(WarpState, SyncCells) == 100 &&
    offsetof(WarpState, Heard) == 104 && offsetof(WarpState, NewsAt) == 108 &&
    offsetof(WarpState, GridFirst) == 112 &&
    offsetof(WarpState, ProxyFence) == 120 &&
    offsetof(WarpState, ProxyFencesSeen) == 124);

/// The number of a location's bit in WarpState::Seen.
inline constexpr uint32_t seenBit(uint64_t Address) {
  return uint32_t(Address >> 4) * 0x9e3779b1u >> 26;
}
/// The bits in LaneStates::Seen of the words that `Size` bytes at `Address`
/// touch, which are aligned: four bits for each of 8 hashes of 16 bytes.
inline constexpr uint32_t seenWords(uint64_t Address, uint32_t Size) {
  if (Size > 16)
    return ~0u;
  const uint32_t Words = (1u << (Size + 3) / 4) - 1;
  return Words << (Address >> 2 & 3) << 4 * (seenBit(Address) >> 3);
}

/// Flags in WarpState::Place. NeedsCare: every access goes to the runtime,
/// because the clock is nearly used up or the check is to be Thorough.
/// HasFenced: a lane has executed a fence, so that its writes may release.
/// HasFresh: a lane has acquired what no barrier of the block has handed on
/// yet. TellsLanes: releases note which lanes of the block have released
/// (SyncCell::Lanes), as the first blocks of a grid do; the same for all warps
/// of a block. SharesNumber: the grid has so many warps that another block of
/// the grid has this warp's number. Stopped: the grid is not followed any more
/// (FollowLimit::GridTime); NeedsCare is set as well.
inline constexpr uint32_t NeedsCare = 1u << 31, HasFenced = 1u << 30,
                          HasFresh = 1u << 29, TellsLanes = 1u << 28,
                          SharesNumber = 1u << 27, Stopped = 1u << 15;

/// In WarpState::Alive: two live blocks have the same number, or had until the
/// next block of that number came. Nothing is judged then.
inline constexpr uint32_t Mixed = 1u << 31, AliveMask = 0xffff;
/// In WarpState::Alive: how many parts of warps have been counted as alive, and
/// have not found the state of their block written yet. The state may be that
/// of a block that has ended, so the count says nothing of its threads.
inline constexpr uint32_t Begins = 1u << 16, BeginsMask = 0x7fff0000;

enum WarpFlags : uint32_t {
  /// The warp may end without calling the runtime, so Alive says nothing.
  Leaky = 2,
  HasKnown = 4, ///< The warp's row of the vector clocks is not all zero.
  /// The grid may synchronise in ways that the runtime is not told of.
  Opaque = 8,
  // From bit 16 on: from which of the block's sync cells lanes have acquired
  // (runtime/device/metadata/SyncCell.h).
};

/// What may have happened in this block, or in an earlier block of its number.
/// Bits are never cleared.
enum WarpNews : uint32_t {
  /// Barriers may hand on what the runtime is not told of.
  AlwaysNews = 1,
  /// Threads may have passed different numbers of barriers.
  Uneven = 2,
  /// A function that is not instrumented may have been at a barrier, and may
  /// have acquired anything before. The bits from UnfollowedCall on count the
  /// threads that are in a function that may do so.
  Unfollowed = 4,
  UnfollowedCall = 8,
};

/// The states of a warp's lanes, field by field, so that lanes which access a
/// field together access adjacent words. Clocks are those of the warp. A clock
/// of an earlier block is smaller than every clock of this one, and so says
/// nothing.
struct LaneStates {
  /// WarpState::Start, once the lane has set to 0 every field from Barriers to
  /// Flags, which hold more than clocks.
  uint32_t Epoch[32];
  uint32_t Barriers[32]; ///< How many barriers of the block it has passed.
  /// Clocks of its last fence of at least the scope; 0: none.
  uint32_t FenceBlock[32], FenceDevice[32];
  uint32_t Acquire[32]; ///< The clock of its last acquire.
  /// Into which sync cells it last released: of the block's, a bit for each; of
  /// the others, two indices, 0: none.
  uint32_t ToldInBlock[32], ToldWide[32];
  /// Which sync cells its next fence acquires from: of the block's, a bit for
  /// each; then how many of the others.
  uint32_t Pending[32];
  uint32_t NumLocks[32]; ///< Locks held (iGUARD 6.3); more than 4 are counted.
  uint32_t ActiveLocks[32]; ///< Bit I: a fence has followed Locks[I].
  uint32_t Locks[4][32];    ///< Hashes of the locks' addresses, 0: free.
  /// How many groups of matrix products (wgmma) it has committed.
  uint32_t Products[32];
  uint32_t Flags[32]; ///< LaneFlags. The last field that is reset.
  /// The clock at which it may last have released, in the upper half, and that
  /// of the release before, in the lower half: both are read in one load.
  uint64_t Given[32];
  /// The clock when it last arrived at a barrier of lanes of its warp, or of
  /// the block, and when it last departed from one. Barriers at which all lanes
  /// met together are in WarpState::Met.
  uint32_t WarpArrive[32], WarpDepart[32];
  /// The clock when it last departed from a barrier of some lanes of its warp,
  /// the lanes that it may have acquired from at such barriers since the last
  /// barrier of all lanes, and the lanes that others hand on to it.
  uint32_t PartDepart[32], MetLanes[32], ToldLanes[32];
  uint32_t Release[32]; ///< The clock of its last release of any scope.
  /// The clocks up to which it released into ToldInBlock and into ToldWide.
  uint32_t ToldInBlockClock[32], ToldWideClock[32];
  uint32_t PendingWide[2][32]; ///< The first Pending cells beyond the block.
  /// The clocks of its last commits of asynchronous copies, the latest first. A
  /// copy of a later group is issued at a larger clock.
  uint32_t Commits[4][32];
  /// Its last waits for asynchronous copies, the latest first: the clock up to
  /// which the awaited copies were issued in the upper half, and the clock of
  /// the wait in the lower half.
  uint64_t Waited[3][32];
  /// Where its last asynchronous copies write, in words of shared memory from
  /// 1; 0: it has waited for the copy.
  uint16_t Copies[32][32];
  uint32_t NextCopy[32]; ///< The next entry of Copies, if that one is free.
  /// WarpState::Barrier when it last came to a barrier of the block.
  uint32_t MetAfter[32];
  /// What it may have observed since the block's last barrier. In the upper
  /// half that barrier, as an accessor has clocks; where it is another one than
  /// WarpState::Barrier, the rest is void. In the lower half the bits
  /// (seenWords) of what it has read strongly; all, if it has acquired from a
  /// thread that had read anything strongly.
  uint64_t Seen[32];
};
static_assert(sizeof(LaneStates) == 7424 && offsetof(LaneStates, Epoch) == 0 &&
              offsetof(LaneStates, Barriers) == 128 &&
              offsetof(LaneStates, FenceBlock) == 256 &&
              offsetof(LaneStates, FenceDevice) == 384 &&
              offsetof(LaneStates, Acquire) == 512 &&
              offsetof(LaneStates, ToldInBlock) == 640 &&
              offsetof(LaneStates, ToldWide) == 768 &&
              offsetof(LaneStates, Pending) == 896 &&
              offsetof(LaneStates, NumLocks) == 1024 &&
              offsetof(LaneStates, ActiveLocks) == 1152 &&
              offsetof(LaneStates, Locks) == 1280 &&
              offsetof(LaneStates, Products) == 1792 &&
              offsetof(LaneStates, Flags) == 1920 &&
              offsetof(LaneStates, Given) == 2048 &&
              offsetof(LaneStates, WarpArrive) == 2304 &&
              offsetof(LaneStates, WarpDepart) == 2432 &&
              offsetof(LaneStates, PartDepart) == 2560 &&
              offsetof(LaneStates, MetLanes) == 2688 &&
              offsetof(LaneStates, ToldLanes) == 2816 &&
              offsetof(LaneStates, Release) == 2944 &&
              offsetof(LaneStates, ToldInBlockClock) == 3072 &&
              offsetof(LaneStates, ToldWideClock) == 3200 &&
              offsetof(LaneStates, PendingWide) == 3328 &&
              offsetof(LaneStates, Commits) == 3584 &&
              offsetof(LaneStates, Waited) == 4096 &&
              offsetof(LaneStates, Copies) == 4864 &&
              offsetof(LaneStates, NextCopy) == 6912 &&
              offsetof(LaneStates, MetAfter) == 7040 &&
              offsetof(LaneStates, Seen) == 7168);
/// Lanes are 4 bytes apart, and the fields that are reset 128.
inline constexpr uint32_t NumResetFields =
    offsetof(LaneStates, Given) / 128 - 1;

enum LaneFlags : uint32_t {
  IsCalling = 1, ///< It is in a function of another translation unit.
  HasLeft = 2,   ///< It has left its kernel.
};

/// A block's barriers have so many entries in turn, by the clock of the barrier
/// before (Meeting.h).
inline constexpr uint32_t NumMeetings = 4;

/// The largest clock of a warp that has ended. There are several, by
/// multiprocessor, because every warp would contend for a single one.
struct MaxClock {
  uint32_t Clock;
  uint32_t Pad[7];
};
static_assert(sizeof(MaxClock) == 32 && offsetof(MaxClock, Clock) == 0 &&
              offsetof(MaxClock, Pad) == 4);
inline constexpr uint32_t NumMaxClocks = 32;

/// Sync cells of synchronisation objects: the first half by the hash of a
/// location, for all threads; the other half by block, SubCells each, for what
/// the threads of a block release to each other.
inline constexpr uint32_t NumObjectCells = 1u << 15;
inline constexpr uint32_t NumWideCells = NumObjectCells / 2, SubCells = 8;
/// Behind those, the sync cell of each block's barrier, by the number of the
/// block's first warp. No other live block has it: whatever one warp acquires
/// from it, all warps of the block do.
inline constexpr uint32_t NumSyncCells = NumObjectCells + NumWarps;

/// What a thread that acquires from an object comes to know.
struct SyncCell {
  uint64_t Seen; ///< As WarpState::Seen.
  /// Of one of a block's own sync cells: a bit for each lane of its warps, by
  /// the warps' numbers, that has released into it, and in the upper half since
  /// which barrier of the block.
  uint64_t Lanes;
  uint32_t Pad[28];
  uint32_t Known[KnownEntries]; ///< A vector clock.
};
static_assert(sizeof(SyncCell) == 256 && offsetof(SyncCell, Seen) == 0 &&
              offsetof(SyncCell, Lanes) == 8 && offsetof(SyncCell, Pad) == 16 &&
              offsetof(SyncCell, Known) == 128);

} // namespace crsan::abi

#endif // CRSAN_ABI_CLOCK_H
