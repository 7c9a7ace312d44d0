// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that kernels may touch.
#ifndef CRSAN_INJECT_SHADOW_ALLOCATIONS_H
#define CRSAN_INJECT_SHADOW_ALLOCATIONS_H

#include <cuda.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace crsan {

/// Some of the program's memory: an allocation, or a module's variables.
struct MemoryRange {
  /// Null: every context may touch it, and the host.
  CUcontext Owner = nullptr;
  uint64_t Base = 0, Size = 0;
  /// The variables of a module, which its kernels reach without a pointer.
  bool HasVariables = false;
  /// The function of the runtime API that allocated the range; a function of
  /// the driver API is named as its counterpart there. Null: not an allocation.
  const char *How = nullptr;
  uint32_t Number = 0; ///< Among all, from 1, where How is set.
  uint32_t MadeAt = 0; ///< Of CallSites.
  bool IsIO = false;   ///< Reading it may have an effect.

  bool isHosts() const { return !Owner; }

  bool isFor(CUcontext Context) const { return !Owner || Owner == Context; }
};

/// A place in an allocation, for reports.
struct PlaceInMemory {
  /// "byte 128 of 4096 bytes from cudaMalloc (allocation 3)".
  std::string Words;
  uint32_t MadeAt = 0; ///< Of CallSites: where the allocation was made.
};

/// A call that frees memory, from its beginning to its end.
enum class FreeCall : uint64_t { None = 0 };

/// All memory that kernels may access, from the program's start: code with
/// metadata mode may be loaded long after the memory was allocated.
class Allocations {
public:
  void add(MemoryRange Range);

  /// A call that frees the allocation of this base begins. Its memory may
  /// become another allocation's before the call ends, so the call is known by
  /// its number from now on, and the address means the other allocation.
  FreeCall beginFree(uint64_t Base);
  /// A call that unmaps all allocations that begin in a range begins.
  FreeCall beginUnmap(uint64_t Base, uint64_t Size);
  /// The call has succeeded. Returns what is free.
  std::vector<MemoryRange> endFree(FreeCall Call);
  /// The call has failed: the memory is allocated as before. Returns it.
  std::vector<MemoryRange> cancelFree(FreeCall Call);
  /// The call has succeeded, and a stream will free the memory. Until then
  /// kernels may use it.
  void deferFree(FreeCall Call);
  /// The context is idle: returns what its streams were to free.
  std::vector<MemoryRange> takeFreed(CUcontext Context);

  std::vector<MemoryRange> of(CUcontext Context) const;
  /// The range of the context's that all of the bytes lie in; null: there is
  /// none.
  const MemoryRange *find(CUcontext Context, uint64_t Base,
                          uint64_t Size) const;
  /// Whether the address is in any context's memory.
  bool isKnown(uint64_t Address) const { return at(Address) != nullptr; }
  /// The size of the allocation of this base; 0: there is none.
  uint64_t sizeOf(uint64_t Base) const {
    const MemoryRange *Range = at(Base);
    return Range && Range->Base == Base ? Range->Size : 0;
  }
  /// Whether the host may access the memory at the address.
  bool isHosts(uint64_t Address) const;
  /// Whether any eight of the bytes, at any offset, may be the address of
  /// memory that the host may access.
  bool mayPointToHosts(std::span<const uint8_t> Bytes) const;
  void forget(CUcontext Dead);

  /// The place in the allocation that a context finds at an address. Empty if
  /// there was none, or if there were several that differ, one after the other.
  PlaceInMemory describe(CUcontext Context, uint64_t Address) const;

private:
  using RangeMap = std::multimap<uint64_t, MemoryRange>; ///< By base.

  const MemoryRange *at(uint64_t Address) const;
  FreeCall beginFree(RangeMap::iterator Begin, RangeMap::iterator End);
  void remember(const MemoryRange &Gone);

  RangeMap Live;
  std::map<FreeCall, std::vector<MemoryRange>> FreeCalls; ///< Not yet ended.
  std::vector<MemoryRange> Deferred; ///< Streams will free these.
  std::vector<MemoryRange> Past;     ///< Of the heap, given back.
  bool HasForgotten = false; ///< There were more of those than are kept.
  uint32_t Number = 0;       ///< Of the last one.
  uint64_t NumFreeCalls = 0;
  /// All memory that the host could ever access lies between these.
  uint64_t HostsBegin = ~uint64_t(0), HostsEnd = 0;
};

} // namespace crsan

#endif // CRSAN_INJECT_SHADOW_ALLOCATIONS_H
