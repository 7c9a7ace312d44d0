// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the library tells a module.
#ifndef CRSAN_ABI_CONFIG_H
#define CRSAN_ABI_CONFIG_H

#include "crsan/abi/Version.h"

#include <cstddef>

namespace crsan::abi {

enum ConfigFlags : uint32_t {
  Enabled = 1,        ///< The library sets it. While clear, nothing is checked.
  TrapOnRace = 2,     ///< `trap=1`: a race ends the kernel by a breakpoint.
  DistinctOnly = 4,   ///< Lanes of a warp may store equal values to one word.
  ShuffleBlocks = 8,  ///< Block indices are permuted (BlockOrder.h).
  IntraWarp = 16,     ///< The lanes of a warp are compared with each other.
  Watch = 64,         ///< Checks set watchpoints and look for others'.
  Shadowed = 128,     ///< Metadata mode is on: Config::Metadata is set.
  WeakVolatile = 256, ///< `volatile=weak`: volatile accesses count as weak.
  /// The launches that `launches` asks about have not begun, or are over: the
  /// collider checks nothing, and metadata mode records no race.
  Paused = 512,
  Garbage = 1024, ///< `garbage=1`: a check writes garbage in front of a store.
  Sampled = 2048, ///< Metadata mode follows some grids (Metadata::FollowOneIn).
  /// `early_blocks=1`: in most large grids, only the blocks that begin early
  /// execute checks.
  EarlyBlocks = 4096,
  /// `lasting_watchpoints=1`: threads leave watchpoints when they go on, where
  /// blocks race at any time. No graph was launched: launches of its nodes
  /// share their %gridid.
  Lasting = 8192,
};

/// A `__constant__` of each module, zero until the library writes it: a program
/// that runs without the library finds Enabled clear and runs as if it were not
/// instrumented.
struct Config {
  uint32_t Version;  ///< abi::Version of the library.
  uint32_t Flags;    ///< ConfigFlags.
  uint64_t Records;  ///< Device address of the RecordBuffer.
  uint64_t Counters; ///< Device address of the Counters.
  uint32_t Seed;     ///< Of all random choices.
  uint32_t DelayNs;  ///< The longest delay of a window, in nanoseconds.
  /// How many executions of a window (counted by warps) are all checked before
  /// sampling begins; 0: sampling never begins.
  uint32_t Budget;
  uint32_t MaxInterval; ///< Sampling checks one execution in so many, at least.
  uint64_t Watchpoints; ///< Device address of the Watchpoints.
  uint64_t Metadata;    ///< Device address of the Metadata.
  uint64_t TensorMaps;  ///< Device address of the table of TensorMap, or 0.
  /// Device address of the HostWatchpoints; 0: no host code is checked.
  uint64_t HostWatchpoints;
  /// Of windows that have used up their Budget, a block begins one check in so
  /// many cycles for each cycle that the check takes, in 1/256; 0: the time of
  /// checks is not limited.
  uint32_t CyclesPerCycle;
  uint32_t Multiprocessors; ///< Of the device.
  uint32_t SharedBytes;     ///< Shared memory of a multiprocessor.
  /// The collider: one warp in so many executes a kernel's checks, at most; 0
  /// and 1: all may.
  uint32_t WarpOneIn;
  /// A block begins to look for watchpoints, without a check, once in so many
  /// cycles for each cycle that the look takes, in 1/256; 0: it does not, and
  /// checks do not look once more before they end.
  uint32_t CyclesPerLookCycle;
  uint32_t Pad;
  /// AssembledMark in an image that crsan-ptxas has assembled. An image that
  /// the driver has compiled from PTX lacks the mark, and lacks what
  /// crsan-ptxas does to keep the lanes of a warp converged.
  uint64_t Assembled;
};
static_assert(sizeof(Config) == 104 && offsetof(Config, Version) == 0 &&
              offsetof(Config, Flags) == 4 && offsetof(Config, Records) == 8 &&
              offsetof(Config, Counters) == 16 &&
              offsetof(Config, Seed) == 24 && offsetof(Config, DelayNs) == 28 &&
              offsetof(Config, Budget) == 32 &&
              offsetof(Config, MaxInterval) == 36 &&
              offsetof(Config, Watchpoints) == 40 &&
              offsetof(Config, Metadata) == 48 &&
              offsetof(Config, TensorMaps) == 56 &&
              offsetof(Config, HostWatchpoints) == 64 &&
              offsetof(Config, CyclesPerCycle) == 72 &&
              offsetof(Config, Multiprocessors) == 76 &&
              offsetof(Config, SharedBytes) == 80 &&
              offsetof(Config, WarpOneIn) == 84 &&
              offsetof(Config, CyclesPerLookCycle) == 88 &&
              offsetof(Config, Pad) == 92 && offsetof(Config, Assembled) == 96);
inline constexpr uint64_t AssembledMark =
    0x7478'7074'6173'7263; // "crsatpxt" in memory

} // namespace crsan::abi

#endif // CRSAN_ABI_CONFIG_H
