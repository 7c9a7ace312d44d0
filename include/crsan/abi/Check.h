// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments of the runtime's entry points.
#ifndef CRSAN_ABI_CHECK_H
#define CRSAN_ABI_CHECK_H

#include <cstdint>

namespace crsan::abi {

/// What the pass knows of an access that is checked in line, and of the
/// function that makes it: a constant argument of the checks in line
/// (runtime/device/metadata/entry/InLine.h), which are specialised for it.
enum ShapeBits : uint32_t {
  ShapeSize = 31, ///< A mask of the bytes accessed: 1, 2, 4, 8 or 16.
  ShapeReads = 1 << 5,
  ShapeWrites = 1 << 6,
  ShapeStrong = 1 << 7,
  ShapeWide = 1 << 8,         ///< Strong, with a scope wider than the block.
  ShapeMayBeShared = 1 << 9,  ///< The address may be one of shared memory.
  ShapeMayBeGlobal = 1 << 10, ///< The address may be one of global memory.
  ShapeBarriers = 1 << 11,    ///< Threads of a block may meet at barriers.
  ShapeMeetings = 1 << 12, ///< Lanes of a warp may meet at barriers of lanes.
  ShapeLocks = 1 << 13,    ///< Threads may hold locks, or execute fences.
  /// By an asynchronous copy that is in flight from now on.
  ShapeInFlight = 1 << 14,
  /// Threads of other blocks of a cluster may access the block's shared memory.
  ShapeClusters = 1 << 15,
  /// All lanes of a warp that come there access one location (of a check by
  /// __crsan_md_quick_check).
  ShapeUniform = 1 << 16,
};

/// Flags of a check (__crsan_md_check).
enum CheckFlags : uint32_t {
  CheckCounts = 1,   ///< The access has not been counted yet.
  CheckReplaced = 2, ///< Only against the accessor that it has replaced.
  /// The word at the address has been checked in line, with other words.
  /// Accessors that writes have replaced are not surely ordered before them;
  /// ...
  CheckSuspects = 4,
  /// ... or other accessors that were in the cells are not.
  CheckOthers = 8,
  /// A word of an access that is not its first: nothing is left to do without
  /// CheckSuspects, since the call for the first word checks all words.
  CheckLaterWord = 16,
  /// Races of quiet pairs are looked at, too (used in the runtime only).
  CheckDrawn = 32,
};

/// Flags of the calls at a kernel's head (__crsan_md_enter) and where its
/// threads leave (__crsan_md_leave).
enum EnterFlags : uint32_t {
  /// The kernel may end, or start grids, without calling the runtime.
  EnterLeaky = 1,
  /// The kernel may synchronise in ways that the runtime is not told of.
  EnterOpaque = 2,
  /// Threads of a block may meet at barriers; where a thread leaves, from then
  /// on.
  EnterBarriers = 4,
  /// By strong accesses beyond its block, a thread may wait for actors that are
  /// not followed (the host, a copy engine), or release to them.
  EnterSignals = 8,
  /// There may be volatile accesses.
  EnterVolatile = 16,
  /// A thread may synchronise with the host while the kernel runs.
  EnterTellsHost = 32,
  /// While the kernel runs, its blocks synchronise with nothing outside of
  /// them. So each block may be left out by itself, whatever other blocks of
  /// the grid do.
  EnterIsolated = 64,
};

} // namespace crsan::abi

#endif // CRSAN_ABI_CHECK_H
