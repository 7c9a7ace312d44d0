//===- Allocations.h - Memory that the program's kernels may touch  -*- C++
//-*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_ALLOCATIONS_H
#define CRSAN_INJECT_ALLOCATIONS_H

#include <cuda.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace crsan {

/// Some of the program's memory: an allocation, or a module's variables.
struct MemoryRange {
  /// Null: every context may touch it, and the host.
  CUcontext Owner = nullptr;
  uint64_t Base = 0, Size = 0;
  /// Of a module, whose kernels know where it is without being given it.
  bool HasVariables = false;
  /// The function of the runtime API that it is from, as far as one can tell:
  /// the driver's own functions are taken for those. Null: not the heap.
  const char *How = nullptr;
  uint32_t Number = 0; ///< Among all, from 1, where How is set.

  bool isHosts() const { return !Owner; }

  bool isFor(CUcontext Context) const { return !Owner || Owner == Context; }
};

/// All of it, from the program's start: code that needs its shadow may be
/// loaded long after the memory was allocated.
class Allocations {
public:
  void add(MemoryRange Range);
  /// The oldest of this base: when addresses are reused, another thread may
  /// have told of the new allocation before we hear that the old one is gone.
  std::optional<MemoryRange> remove(uint64_t Base);
  /// All that begin in a range, for unmapping.
  std::vector<MemoryRange> removeWithin(uint64_t Base, uint64_t Size);

  /// A stream will free it; until then kernels may still use it.
  void freeing(uint64_t Base);
  /// The context is idle: what its streams were to free.
  std::vector<MemoryRange> takeFreed(CUcontext Context);

  std::vector<MemoryRange> of(CUcontext Context) const;
  /// Whether the host may access what is there.
  bool isHosts(uint64_t Address) const;
  void forget(CUcontext Dead);

  /// The place in the allocation that a context finds at an address, for
  /// reports: "byte 128 of 4096 bytes from cudaMalloc (allocation 3)". Empty if
  /// there was none, or if there were several that differ, one after the other.
  std::string describe(CUcontext Context, uint64_t Address) const;

private:
  void remember(const MemoryRange &Gone);

  std::multimap<uint64_t, MemoryRange> Live; ///< By base.
  std::vector<MemoryRange> Freeing;
  std::vector<MemoryRange> Past; ///< Of the heap, given back.
  bool HasForgotten = false;     ///< There were more of those than are kept.
  uint32_t Number = 0;           ///< Of the last one.
};

} // namespace crsan

#endif // CRSAN_INJECT_ALLOCATIONS_H
