//===- Check.h - Arguments of the runtime's entry points -------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_ABI_CHECK_H
#define CRSAN_ABI_CHECK_H

#include <cstdint>

namespace crsan::abi {

/// Flags of a check (__crsan_md_check).
enum CheckFlags : uint32_t {
  CheckCounts = 1,   ///< The access has not been counted yet.
  CheckReplaced = 2, ///< Only against the accessor that it has replaced.
  /// Of an asynchronous copy that is in flight from now on.
  CheckInFlight = 4,
};

/// Flags of the call at a kernel's head (__crsan_md_enter).
enum EnterFlags : uint32_t {
  /// The kernel may end, or start grids, without calling the runtime.
  EnterLeaky = 1,
  /// The kernel may synchronise in ways that the runtime is not told of.
  EnterOpaque = 2,
  /// Threads of a block may meet at barriers.
  EnterBarriers = 4,
  /// By strong accesses beyond its block, a thread may wait for agents that are
  /// not followed (the host, a copy engine), or release to them.
  EnterSignals = 8,
  /// There may be volatile accesses.
  EnterVolatile = 16,
};

} // namespace crsan::abi

#endif // CRSAN_ABI_CHECK_H
