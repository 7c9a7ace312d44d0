//===- Access.h - What kinds of access there are ---------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_ABI_ACCESS_H
#define CRSAN_ABI_ACCESS_H

#include <cstdint>

namespace crsan::abi {

/// An Update reads and writes at once, as an atomic addition does.
enum class AccessKind : uint8_t { Load = 0, Store = 1, Update = 2 };

/// The state space that an access names statically, or in which its address
/// was found to be.
enum class Space : uint8_t { Generic = 0, Global = 1, Shared = 3, Cluster = 7 };

enum AccessFlags : uint8_t {
  ReadsMemory = 1,
  WritesMemory = 2,
  IsStrong = 4, ///< Strong in PTX: volatile, atomic, or with a memory order.
  IsAtomic = 8, ///< An atomic read-modify-write.
  IsSwap = 16,  ///< A compare-and-swap, which may leave memory as it is.
  /// A read of bytes that its thread then writes, without synchronisation in
  /// between. Whatever races with the read races with the write, so cells need
  /// not remember the read.
  IsOverwritten = 32,
  /// A write by an asynchronous copy.
  IsCopy = 64,
  /// The read or the write of a plain read-modify-write such as `x += 1`.
  IsOfUpdate = 128,
};

enum AccessRoles : uint32_t {
  /// A volatile access that is not atomic: strong in PTX, weak in C++ (see
  /// WeakVolatile).
  IsVolatile = 1,
  /// A compare-and-swap that takes a lock if it succeeds, where the same thread
  /// releases the lock on every path.
  TakesLock = 2,
};

/// The scopes of the PTX memory model. No scope is narrower than a block.
enum class SyncScope : uint8_t {
  Block = 0,
  Cluster = 1,
  Device = 2,
  System = 3
};

/// The orders of the PTX memory model.
enum class SyncOrder : uint8_t {
  Weak = 0,
  Relaxed = 1,
  Acquire = 2,
  Release = 3,
  AcquireRelease = 4,
};

} // namespace crsan::abi

#endif // CRSAN_ABI_ACCESS_H
