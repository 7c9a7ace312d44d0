// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What metadata mode keeps per context.
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
#include <bitset>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace crsan {

/// The largest amounts of the program's memory that had each kind of shadow, in
/// bytes.
struct TrackedMemory {
  uint64_t Exact = 0;
  uint64_t Cached = 0; ///< One cell for 32 words: races may be missed.
  uint64_t None = 0;
};

/// Accesses that the device counted.
struct AccessCounts {
  uint64_t Checked = 0, Unchecked = 0; ///< One for each thread of an access.
};
AccessCounts sumWarps(const std::vector<abi::WarpState> &Warps);

/// What metadata mode has in the memory of a context: the abi::Metadata, its
/// tables, and the shadow of the program's memory, in pages. Functions that are
/// not const call the driver. The caller has made the context current, and
/// holds the session's configuration lock.
class MetadataShadow {
public:
  MetadataShadow(CUdevice Device, CUstream Stream, const Flags &Options);
  MetadataShadow(const MetadataShadow &) = delete;
  MetadataShadow &operator=(const MetadataShadow &) = delete;

  /// Which grids are followed: fields of abi::Metadata and abi::FollowLimit.
  struct Sample {
    uint32_t FollowOneIn = 1, Salt = 0, KernelTime = 0, Percent = 0,
             GridTime = 0;
  };
  /// Allocates the tables. SharedBytes: shared memory of the whole device.
  /// Returns what went wrong, or "".
  std::string prepare(uint64_t SharedBytes, Sample Grids);

  /// Device address of the abi::Metadata.
  CUdeviceptr address() const { return Tables; }
  CUdeviceptr warps() const { return Tables + abi::WarpsAt; }
  CUdeviceptr pairs() const { return Tables + abi::PairsAt; }

  /// Allocates the runs, which the host writes and the device reads, and tells
  /// the device their address. Null: that is impossible.
  abi::StreamOrder *shareOrder();
  bool canShareOrder() const { return !HasOrder; } ///< Not tried yet.
  CUdeviceptr orderAddress() const { return OrderAddress; }

  /// The program has allocated the ranges. Where there is no memory for their
  /// shadow, exact shadow is taken from other pages (isRetiring).
  void add(std::span<const MemoryRange> Ranges);
  /// The program has freed the range. Pages without any other range lose their
  /// shadow.
  void remove(const MemoryRange &Range);

  /// Tells the device that a fact, a field of abi::Metadata, holds from now on:
  /// HasOverlaps or GridsRepeat.
  void note(uint32_t abi::Metadata::*Fact);

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

  /// Forgets all accesses that later ones are judged against. They name sites,
  /// which must not be unloaded before.
  void forgetAccesses();
  enum class Past : uint8_t {
    None,
    LeftOut,  ///< That a grid was left out, which may run beside others.
    Releases, ///< Releases: one may pass on knowledge of all clocks.
    All,      ///< Releases and accesses: a clock is about to saturate.
  };
  /// What the device asks the host to forget.
  Past unwanted();
  /// Forgets it. The context is idle: no later access can race with what is
  /// forgotten.
  void forget(Past What);

  /// The largest amounts so far. They may lag behind while another thread adds
  /// ranges.
  TrackedMemory tracked() const;
  uint64_t held() const { return HeldBytes; }
  /// Counted before the last reset.
  AccessCounts before() const { return {CheckedBefore, UncheckedBefore}; }
  bool wasReset() const { return WasReset; }

private:
  enum class Layout : uint8_t { None, Exact, Cached };
  struct Page {
    uint32_t Users = 0;     ///< Ranges that overlap the page, ...
    uint32_t HostUsers = 0; ///< ... and ranges that the host accesses as well.
    Layout Kind = Layout::None;
    uint64_t Address = 0; ///< Of the page's shadow.
    uint32_t Owner = 0;   ///< abi::PageOwners; of a shared page, its place
                          ///< among the split ones.
  };
  using PageMap = std::map<uint64_t, Page>; ///< By address / PageBytes.

  void number(const MemoryRange &Range);
  void unnumber(uint64_t Base);
  void split(PageMap::value_type &Entry);
  void own(PageMap::value_type &Entry, uint64_t Base, uint64_t Size,
           uint32_t Number);
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
  /// Allocations that have numbers, by their addresses.
  struct Numbered {
    uint64_t Size;
    uint32_t Number;
  };
  std::map<uint64_t, Numbered> Owners;
  std::vector<bool> TakenNumbers = std::vector<bool>(abi::NumOwners);
  std::bitset<abi::NumSplitPages> TakenSplits;
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
