//===- MetadataShadow.h - What metadata mode keeps for a context -*- C++
//-*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_SHADOW_METADATASHADOW_H
#define CRSAN_INJECT_SHADOW_METADATASHADOW_H

#include "common/Flags.h"
#include "crsan/abi/Cell.h"
#include "crsan/abi/Clock.h"
#include "crsan/abi/Launch.h"
#include "crsan/abi/Metadata.h"
#include "shadow/Allocations.h"
#include "shadow/DeviceWrites.h"
#include "shadow/ShadowMemory.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace crsan {

/// How much of the program's memory has had which shadow at a time, in bytes.
struct Coverage {
  uint64_t Exact = 0;
  uint64_t Cached = 0; ///< One cell for 32 words: races may be missed.
  uint64_t None = 0;
};

/// What the device counted.
struct AccessCounts {
  uint64_t Checked = 0, Unchecked = 0; ///< One a thread.
};
AccessCounts sumWarps(const std::vector<abi::WarpState> &Warps);

/// The Metadata object of a context, its tables, and the shadow of the
/// program's memory, in pages. All functions that are not const call the
/// driver, in the context, one at a time: the session's configuration lock is
/// held.
class MetadataShadow {
public:
  MetadataShadow(CUdevice Device, CUstream Stream, const Flags &Options);
  MetadataShadow(const MetadataShadow &) = delete;
  MetadataShadow &operator=(const MetadataShadow &) = delete;

  /// Makes everything but the shadow of pages. SharedBytes: shared memory of
  /// the whole device. Returns what went wrong, or "".
  std::string prepare(uint64_t SharedBytes);

  /// Device address of the abi::Metadata.
  CUdeviceptr address() const { return Tables; }
  CUdeviceptr warps() const { return Tables + abi::WarpsAt; }
  CUdeviceptr pairs() const { return Tables + abi::PairsAt; }

  /// Makes what host and device share of the order of launches, and tells the
  /// device. Null: it cannot be had.
  abi::StreamOrder *shareOrder();
  bool canShareOrder() const { return !HasOrder; } ///< It was not tried yet.
  CUdeviceptr orderAddress() const { return OrderAddress; }

  /// The ranges are the program's from now on. Where there is no memory for
  /// their shadow, exact shadow is taken from other pages (isRetiring).
  void add(std::span<const MemoryRange> Ranges);
  /// Not any more. Pages that nothing else lies in lose their shadow.
  void remove(const MemoryRange &Range);

  /// From now on grids may run side by side.
  void noteOverlaps();

  /// The program is about to allocate so many bytes: gives unused shadow back,
  /// and if that is not enough, takes exact shadow from pages (isRetiring).
  void makeRoom(uint64_t Bytes);
  /// Gives unused shadow back until the program can allocate so many bytes.
  /// Returns how many bytes are missing.
  uint64_t release(uint64_t Bytes);

  /// Shadow was taken from pages, but kernels that were launched before may
  /// still use it. It is not used for other pages until settle().
  bool isRetiring() const { return !Retired.empty(); }
  /// Those kernels have ended: pages without shadow get cached shadow. May
  /// take shadow from more pages.
  void settle();

  /// Nothing has been accessed so far: for when sites are about to be unloaded,
  /// which the device looks at when it finds them in a cell.
  void forgetAccesses();
  enum class Past : uint8_t {
    None,
    Releases, ///< Somebody may know everything, and have told all others.
    All,      ///< Some clock is about to saturate: accesses, too.
  };
  /// What the device asks to have forgotten.
  Past unwanted();
  /// Forgets it. The context is idle, so that no later kernel needs it.
  void forget(Past What);

  /// At most so far. May lag behind while another thread adds.
  Coverage coverage() const;
  uint64_t held() const { return HeldBytes; }
  /// Counted before the last reset.
  AccessCounts before() const { return {CheckedBefore, UncheckedBefore}; }
  bool wasReset() const { return WasReset; }

private:
  enum class Layout : uint8_t { None, Exact, Cached };
  struct Page {
    uint32_t Users = 0;     ///< Ranges that reach into it, ...
    uint32_t HostUsers = 0; ///< ... and those that the host accesses, too.
    Layout Kind = Layout::None;
    uint64_t Address = 0; ///< Of its shadow.
    uint32_t Owner = 0;   ///< abi::PageOwners.
  };
  using PageMap = std::map<uint64_t, Page>; ///< By address / PageBytes.

  uint32_t makeOwner(const MemoryRange &Range);
  void dropOwner(uint32_t Owner);
  void cover(PageMap::value_type &Entry);
  void forgetClocks();
  void forget(const MemoryRange &Range, const PageMap::value_type &Entry);
  void uncover(PageMap::value_type &Entry);
  bool coverCached(PageMap::value_type &Entry);
  uint64_t takePart();
  void retire(uint64_t Count);
  void retireForBare();
  void change(PageMap::value_type &Entry, Layout Kind, uint64_t Address);
  void notePeak();

  const CUstream Stream;
  const bool WantsExact;
  ShadowMemory Memory;
  CUdeviceptr Tables = 0;
  abi::Metadata Header{}; ///< As written.
  PageMap Pages;
  /// The pages of those that have theirs to themselves: the first, and how
  /// many; none where there is no such allocation.
  std::array<std::pair<uint64_t, uint64_t>, abi::NumPageOwners> Owners{};
  std::set<uint64_t> ExactPages;
  /// Pages that have an index, but no shadow for want of memory.
  std::set<uint64_t> BarePages;
  /// Shadow that was taken from exact pages, until settle().
  std::vector<uint64_t> Retired;
  std::vector<uint64_t> Parts; ///< Free shadow for cached pages.
  /// The page that has an index of the device's table.
  std::unordered_map<uint64_t, uint64_t> Indices;
  DeviceWrites Writes;
  std::array<uint64_t, 3> NumPages{}; ///< By layout.

  // Read without the lock.
  std::atomic<bool> HasOrder{false};
  std::atomic<CUdeviceptr> OrderAddress{0};
  std::array<std::atomic<uint64_t>, 3> Peak{}; ///< Of NumPages.
  std::atomic<uint64_t> HeldBytes{0};
  std::atomic<uint64_t> CheckedBefore{0}, UncheckedBefore{0};
  std::atomic<bool> WasReset{false};
};

} // namespace crsan

#endif // CRSAN_INJECT_SHADOW_METADATASHADOW_H
