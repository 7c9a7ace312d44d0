// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of the PTX memory model.
//
// The one set of types for scopes, memory orders, kinds of accesses, strength
// and state spaces ("Memory Consistency Model" of the PTX ISA). The readers of
// PTX, the pass, the device runtime, the reports and the simulated GPU share
// it. The numbers are written into modules and read from records.
#ifndef CRSAN_ABI_MEMORYMODEL_H
#define CRSAN_ABI_MEMORYMODEL_H

#include <cstdint>

namespace crsan::abi {

/// The threads that a strong operation, a fence or a barrier includes: those of
/// the block (.cta), the cluster (.cluster), the device (.gpu) or the whole
/// system (.sys) of the thread that executes it. A wider scope is greater.
enum class Scope : uint8_t { Block = 0, Cluster = 1, Device = 2, System = 3 };

/// The semantics of an operation: .weak, .relaxed, .acquire, .release, .acq_rel
/// and, of fences alone, .sc. A volatile operation and an .mmio operation are
/// relaxed ones of system scope.
enum class MemoryOrder : uint8_t {
  Weak = 0,
  Relaxed = 1,
  Acquire = 2,
  Release = 3,
  AcquireRelease = 4,
  SequentiallyConsistent = 5,
};

constexpr bool isAcquire(MemoryOrder Order) {
  return Order == MemoryOrder::Acquire || Order >= MemoryOrder::AcquireRelease;
}
constexpr bool isRelease(MemoryOrder Order) {
  return Order >= MemoryOrder::Release;
}

/// Update: reads and writes in one, like an atomic addition. Barrier: no access
/// at all, but a place where the threads of a block meet.
enum class AccessKind : uint8_t {
  Load = 0,
  Store = 1,
  Update = 2,
  Barrier = 3
};

/// What an access does, and how.
enum AccessFlags : uint8_t {
  ReadsMemory = 1,
  WritesMemory = 2,
  IsStrong =
      4, ///< Volatile, atomic, or with an order; else the access is weak.
  IsAtomic = 8, ///< Read-modify-write.
  IsSwap = 16,  ///< Compare-and-swap, which may leave memory as it is.
  /// A read of what the thread then writes, without synchronisation in between:
  /// cells need not remember it.
  IsOverwritten = 32,
  IsCopy = 64, ///< By an asynchronous copy.
  /// Of a plain read-modify-write: it reads what its thread then changes and
  /// writes back, or is that write.
  IsOfUpdate = 128,
};
inline constexpr uint8_t AtomicUpdate = ReadsMemory | WritesMemory | IsAtomic;

constexpr AccessKind kindOf(uint8_t Flags) {
  return !(Flags & WritesMemory) ? AccessKind::Load
         : Flags & ReadsMemory   ? AccessKind::Update
                                 : AccessKind::Store;
}
constexpr uint8_t flagsOf(AccessKind Kind) {
  return Kind == AccessKind::Load    ? ReadsMemory
         : Kind == AccessKind::Store ? WritesMemory
                                     : ReadsMemory | WritesMemory;
}

/// The state space that an access names, or that its address was found in.
enum class Space : uint8_t {
  Generic = 0,
  Global = 1,
  Shared = 3,
  Constant = 4,
  Cluster = 7, ///< Shared memory of any block of the cluster.
};

/// How far apart two threads are: in one warp, one block, one grid, or in two
/// grids of a device.
enum class Distance : uint8_t { Warp = 0, Block = 1, Grid = 2, Device = 3 };

} // namespace crsan::abi

#endif // CRSAN_ABI_MEMORYMODEL_H
