// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that host and GPU share, for checks of host code.
#ifndef CRSAN_INJECT_HOST_HOSTRANGES_H
#define CRSAN_INJECT_HOST_HOSTRANGES_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace crsan {

/// The order of accesses that order nothing.
inline constexpr auto Relaxed = std::memory_order_relaxed;

/// A set of ranges that do not overlap. Checks ask it in the middle of the
/// program's code, even in a signal handler: endOf() takes no lock and calls
/// nothing.
class HostRanges {
public:
  void add(uint64_t Base, uint64_t Size);
  /// Returns whether there was a range of this base.
  bool remove(uint64_t Base);

  /// Where the range ends that the address is in; 0: it is in none, or the set
  /// is being changed right now.
  uint64_t endOf(uint64_t Address) const;

  /// The addresses between which all ranges are; the same twice: there is none.
  struct Bounds {
    uint64_t Begin = 0, End = 0;
  };
  Bounds bounds() const;

private:
  struct Range {
    std::atomic<uint64_t> Begin{0}, End{0};
  };
  /// Changes the table; those who look at it meanwhile look again.
  template <typename Change> void change(Change What);
  size_t firstAbove(uint64_t Address) const;
  void move(size_t To, size_t From);

  mutable std::mutex Lock;          ///< Of those who change it.
  std::atomic<uint32_t> Version{0}; ///< Odd while the table is being changed.
  /// By address. A table that has become too small is kept: somebody may be
  /// reading it.
  std::atomic<Range *> Table{nullptr};
  std::atomic<size_t> Count{0};
  size_t Capacity = 0;
};

} // namespace crsan

#endif // CRSAN_INJECT_HOST_HOSTRANGES_H
