// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which grids are ordered.
//
// A *run* is one launch, or several launches of one stream between which no
// order to or from other streams is added. The host numbers the runs of each
// stream and writes down which runs come before each; the stream itself writes
// which run it has reached.
#ifndef CRSAN_ABI_LAUNCH_H
#define CRSAN_ABI_LAUNCH_H

#include <cstddef>
#include <cstdint>

namespace crsan::abi {

/// How many streams of a context are told apart, and how many runs are kept.
inline constexpr uint32_t NumStreams = 32, NumRuns = 1u << 12;

/// A run. The host writes it before the first launch of the run.
struct StreamRun {
  uint32_t Number;   ///< From 1, over all streams; 0: about to be written.
  uint32_t Stream;   ///< The number of its stream.
  uint32_t Sequence; ///< Its position among the runs of its stream, from 1.
  uint32_t Launches; ///< Launches so far.
  /// The bits (kernelBit) of the kernels and shapes of the launches. Other bits
  /// may be set, too.
  uint64_t Kernels[4];
  /// The same, of the kernels, shapes and arguments (argumentsBit).
  uint64_t Arguments[4];
  /// By stream: the sequence of the last run that is ordered before this one.
  uint32_t Before[NumStreams];
};
static_assert(sizeof(StreamRun) == 208 && offsetof(StreamRun, Number) == 0 &&
              offsetof(StreamRun, Stream) == 4 &&
              offsetof(StreamRun, Sequence) == 8 &&
              offsetof(StreamRun, Launches) == 12 &&
              offsetof(StreamRun, Kernels) == 16 &&
              offsetof(StreamRun, Arguments) == 48 &&
              offsetof(StreamRun, Before) == 80);

/// Pinned, mapped host memory, one per context that has streams besides the
/// default one.
struct StreamOrder {
  /// 1: there may be grids of no known run, or orders that the host does not
  /// know of. No two grids are called unordered then.
  uint32_t IsOff;
  /// Written by the device: a grid has begun that may be ordered with others
  /// by what no stream shows (EnterSignals).
  uint32_t HasSignalled;
  /// Likewise: a grid has begun that may tell the host of itself, or of others,
  /// before it ends (EnterTellsHost).
  uint32_t HasToldHost;
  uint32_t Reserved[13];
  /// Written by the streams: the number of the run that each began last.
  uint32_t Current[NumStreams];
  StreamRun Runs[NumRuns]; ///< By number, modulo NumRuns.
};
static_assert(sizeof(StreamOrder) == 852160 &&
              offsetof(StreamOrder, IsOff) == 0 &&
              offsetof(StreamOrder, HasSignalled) == 4 &&
              offsetof(StreamOrder, HasToldHost) == 8 &&
              offsetof(StreamOrder, Reserved) == 12 &&
              offsetof(StreamOrder, Current) == 64 &&
              offsetof(StreamOrder, Runs) == 192);

/// The runs that a grid may belong to. It belongs to one of them.
struct GridRuns {
  uint64_t Grid; ///< %gridid + 2; 0: free; 1: about to be written.
  uint64_t Reserved;
  uint32_t Runs[NumStreams]; ///< By stream: the number of a run, or 0.
};
static_assert(sizeof(GridRuns) == 144 && offsetof(GridRuns, Grid) == 0 &&
              offsetof(GridRuns, Reserved) == 8 &&
              offsetof(GridRuns, Runs) == 16);
inline constexpr uint32_t NumGridRuns = 1u << 10;

/// The clock at which the first grid of a run began, by stream and sequence.
struct RunClock {
  uint32_t Sequence;
  uint32_t Clock;
};
static_assert(sizeof(RunClock) == 8 && offsetof(RunClock, Sequence) == 0 &&
              offsetof(RunClock, Clock) == 4);
inline constexpr uint32_t NumRunClocks = 64;

/// How many pairs of grids that are known to be ordered are kept, by hash.
inline constexpr uint32_t NumOrderedGrids = 1u << 10;

/// Where the clocks of a grid began.
struct GridStart {
  /// The grid's key in the upper half, the clock in the lower half; 0: free.
  uint64_t KeyAndClock;
  /// The smallest such clock of the grids that have ended and are not ordered
  /// before this one.
  uint32_t Horizon;
  uint32_t IsFirst; ///< 1: the grid is the first one of its kernel.
};
static_assert(sizeof(GridStart) == 16 &&
              offsetof(GridStart, KeyAndClock) == 0 &&
              offsetof(GridStart, Horizon) == 8 &&
              offsetof(GridStart, IsFirst) == 12);
inline constexpr uint32_t NumGridStarts = 1u << 10;
/// A multiprocessor's copy of a GridStart. Thousands of warps begin at the same
/// time when a grid begins, and would contend for the one place that all
/// multiprocessors share.
struct NearGridStart {
  GridStart Copy; ///< Of the grid whose key it has; Horizon is its floor.
  uint32_t Asks;  ///< The key of the last grid of which a warp has asked.
  uint32_t Reserved;
  /// The multiprocessor's cycle in which the copy was made.
  uint64_t Began;
};
static_assert(sizeof(NearGridStart) == 32 &&
              offsetof(NearGridStart, Copy) == 0 &&
              offsetof(NearGridStart, Asks) == 16 &&
              offsetof(NearGridStart, Reserved) == 20 &&
              offsetof(NearGridStart, Began) == 24);
/// Multiprocessors, by %smid, and grids of each, by %gridid, that have copies
/// of their own.
inline constexpr uint32_t NumNearPlaces = 256, NumNearGrids = 4;

/// Identifies a kernel by a hash of its mangled name (FNV-1a).
inline constexpr uint32_t kernelTag(const char *Name, size_t Length) {
  uint32_t Hash = 0x811c9dc5u;
  for (size_t I = 0; I < Length; ++I)
    Hash = (Hash ^ uint8_t(Name[I])) * 0x01000193u;
  return Hash;
}
/// The table of the first grid of each kernel (%gridid + 1), by kernelTag.
inline constexpr uint32_t NumFirstGrids = 1u << 10;
/// A hash of a kernel and of the extents of its grid and its blocks.
inline constexpr uint32_t shapeHash(uint32_t Tag, uint32_t GridX,
                                    uint32_t GridY, uint32_t GridZ,
                                    uint32_t BlockX, uint32_t BlockY,
                                    uint32_t BlockZ) {
  const uint32_t Extents[] = {GridX, GridY, GridZ, BlockX, BlockY, BlockZ};
  uint32_t Hash = Tag;
  for (uint32_t Extent : Extents)
    Hash = (Hash ^ Extent) * 0x9e3779b1u + (Hash >> 15);
  return Hash;
}
/// The bit of StreamRun::Kernels.
inline constexpr uint32_t kernelBit(uint32_t ShapeHash) {
  return ShapeHash >> 24;
}

/// A kernel's arguments are told apart by a hash of their first words of 4
/// bytes, of those arguments that are 4 or 8 bytes large. The library computes
/// it at the launch, and the kernel computes it when it begins.
inline constexpr uint32_t NumArgumentWords = 16;
inline constexpr uint32_t ArgumentFactor = 0x9e3779b1u, ArgumentShift = 15;
inline constexpr uint32_t addArgumentWord(uint32_t Hash, uint32_t Word) {
  Hash = (Hash ^ Word) * ArgumentFactor;
  return Hash ^ Hash >> ArgumentShift;
}
/// Never 0, which stands for arguments that are not known.
inline constexpr uint32_t finishArguments(uint32_t Hash) { return Hash | 1; }
/// The bit of StreamRun::Arguments.
inline constexpr uint32_t argumentsBit(uint32_t ShapeHash, uint32_t Arguments) {
  return addArgumentWord(ShapeHash, Arguments) * 0x9e3779b1u >> 24;
}

} // namespace crsan::abi

#endif // CRSAN_ABI_LAUNCH_H
