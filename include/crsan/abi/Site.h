// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checked accesses on the device.
#ifndef CRSAN_ABI_SITE_H
#define CRSAN_ABI_SITE_H

#include "crsan/abi/MemoryModel.h"

#include <cstddef>

namespace crsan::abi {

enum SiteFlags : uint8_t {
  HasValue = 1, ///< The check is given the value about to be stored.
  /// A row of a matrix that all lanes of a warp access by one instruction.
  OfWarp = 2,
  IsAsync = 4, ///< By an asynchronous copy that begins behind the check.
  /// A store. From the check to the store, this lane reads nothing of it,
  /// except perhaps by accesses of the same check; and the store is sure to
  /// come.
  TakesGarbage = 8,
  /// In a kernel whose blocks nothing orders: the access races with each
  /// conflicting one of another block of the grid, whenever the two come.
  RacesAnyTime = 16,
  /// With RacesAnyTime, in a kernel whose warps only barriers of all threads of
  /// the block order: the access races with each conflicting one of another
  /// warp of the block if both have come through as many of these.
  RacesInInterval = 32,
};

/// A weak access that the collider checks. Device memory, initialised by the
/// pass.
struct Site {
  uint64_t Id;   ///< SiteEntry::Id: a hash of the descriptor.
  uint32_t Size; ///< Bytes accessed; 0: the length is an operand of the check.
  AccessKind Access;
  Space MemorySpace;
  /// Of a store: a bit for each access of its group, by position, that another
  /// lane may make where this store writes.
  uint8_t Meets;
  uint8_t Flags; ///< SiteFlags.
  /// Added to the address that the check is given. A constant in the code would
  /// take a register.
  int64_t Offset;
  /// Races found: [0] with any thread, [1] between the lanes of a warp.
  uint64_t Hits[2];
  /// The record of the first of those races, plus 1. 0: no race yet; ~0u: the
  /// record buffer was full.
  uint32_t Slot[2];
};
static_assert(sizeof(Site) == 48 && offsetof(Site, Id) == 0 &&
              offsetof(Site, Size) == 8 && offsetof(Site, Access) == 12 &&
              offsetof(Site, MemorySpace) == 13 &&
              offsetof(Site, Meets) == 14 && offsetof(Site, Flags) == 15 &&
              offsetof(Site, Offset) == 16 && offsetof(Site, Hits) == 24 &&
              offsetof(Site, Slot) == 40);

/// How often a window is checked. Device memory, zero at first. All windows
/// that run in every iteration of a loop share one. A kernel with a plain body
/// has one of its own in front of those of its windows: one warp in so many
/// executes the checks, and Executed counts grids
/// (runtime/device/collider/PlainBody.h).
struct alignas(8) Sampling {
  /// One execution in so many is checked, on average; 1: each one; 0: no warp
  /// has asked for a check yet.
  uint32_t Interval;
  uint32_t Executed; ///< Executions that were checked, counted by warps.
};
static_assert(sizeof(Sampling) == 8 && offsetof(Sampling, Interval) == 0 &&
              offsetof(Sampling, Executed) == 4);

/// The most accesses of a window that one call of the runtime checks.
inline constexpr unsigned MaxGroupSize = 8;
/// Where the argument that has the number of a group's accesses has the number
/// of groups of the window, if there are several.
inline constexpr unsigned GroupsAt = 8;

enum AccessRoles : uint32_t {
  /// A volatile access that is not atomic: strong in PTX, weak in C++ (see
  /// WeakVolatile).
  IsVolatile = 1,
  /// A compare-and-swap that takes a lock if it succeeds, where the same thread
  /// releases the lock on every path.
  TakesLock = 2,
  /// A row that ldmatrix or stmatrix distributes among four lanes, or, if
  /// transposed, eight.
  MatrixRow = 4,
  TransposedRow = 8,
  /// A row of a matrix of which any lane of the warp may have any element.
  OpaqueRow = 16,
  /// By an asynchronous copy that its thread waits for by
  /// cp.async.bulk.wait_group, or any thread at an mbarrier. By neither:
  /// cp.async.wait_group.
  ByBulkGroup = 32,
  ByMbarrier = 64,
  /// The site is no code: an operation of a stream, such as a copy.
  IsOperation = 128,
  /// The site is a barrier of all threads of the block. Its Size is a hash of
  /// its line without the calls that were inlined.
  IsBarrier = 256,
  /// An operand of a matrix product in shared memory, which is read until a
  /// warp of the warp group has waited for the product by wgmma.wait_group.
  ByWarpGroup = 512,
};

/// An access that metadata mode checks. Device memory, initialised by the pass.
struct AccessSite {
  uint64_t Id; ///< SiteEntry::Id.
  /// Bytes accessed; 0: the length is an operand of the check. See IsBarrier.
  uint32_t Size;
  uint8_t Flags; ///< AccessFlags.
  abi::Scope Scope;
  MemoryOrder Order;
  Space MemorySpace;
  /// The number by which cells name the site, which the device assigns when the
  /// site's function first runs; or one of the values below. Those are negative
  /// as signed numbers.
  uint32_t Index;
  /// The position of the site among those of its function. The sites of a
  /// function are numbered together: the first one gets a multiple of a power
  /// of two that is not less than Count.
  uint32_t Number;
  uint32_t Count; ///< Of the function's first site: how many sites there are.
  uint32_t Roles; ///< AccessRoles.
};
static_assert(
    sizeof(AccessSite) == 32 && offsetof(AccessSite, Id) == 0 &&
    offsetof(AccessSite, Size) == 8 && offsetof(AccessSite, Flags) == 12 &&
    offsetof(AccessSite, Scope) == 13 && offsetof(AccessSite, Order) == 14 &&
    offsetof(AccessSite, MemorySpace) == 15 &&
    offsetof(AccessSite, Index) == 16 && offsetof(AccessSite, Number) == 20 &&
    offsetof(AccessSite, Count) == 24 && offsetof(AccessSite, Roles) == 28);

/// AccessSite::Index: not assigned yet; being assigned; none was left.
inline constexpr uint32_t NoIndexYet = 1u << 31, IndexClaimed = ~0u,
                          NoIndexLeft = ~1u;
/// How many sites cells can name. Accesses of further sites are not checked.
inline constexpr uint32_t MaxSites = 1u << 16;

} // namespace crsan::abi

#endif // CRSAN_ABI_SITE_H
