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
#include <vector>

namespace crsan {

/// Some of the program's memory: an allocation, or a module's variables.
struct MemoryRange {
  /// Null: every context may touch it, and the host.
  CUcontext Owner = nullptr;
  uint64_t Base = 0, Size = 0;
  /// Of a module, whose kernels know where it is without being given it.
  bool HasVariables = false;

  bool isHosts() const { return !Owner; }

  bool isFor(CUcontext Context) const { return !Owner || Owner == Context; }
};

/// All of it, from the program's start: code that needs its shadow may be
/// loaded long after the memory was allocated.
class Allocations {
public:
  void add(const MemoryRange &Range) { Live.emplace(Range.Base, Range); }
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

private:
  std::multimap<uint64_t, MemoryRange> Live; ///< By base.
  std::vector<MemoryRange> Freeing;
};

} // namespace crsan

#endif // CRSAN_INJECT_ALLOCATIONS_H
