// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watchpoints of host threads, which kernels find.
#ifndef CRSAN_INJECT_HOST_HOSTWATCH_H
#define CRSAN_INJECT_HOST_HOSTWATCH_H

#include "crsan/abi/Watchpoints.h"

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace crsan {

/// The tables of watchpoints that contexts read (abi::HostWatchpoints).
/// Functions without a note take no lock, and may be called in a signal
/// handler.
class HostWatch {
public:
  /// Makes a table for the current context. Returns its address on the device;
  /// 0: it could not be made, and kernels find no watchpoints of the host. Not
  /// for a signal handler.
  CUdeviceptr share();

  /// Forgets the tables, which a forked child does not have.
  void closeForChild();

  /// A watchpoint, as long as it lives, on those bytes of an access that lie in
  /// one aligned group of 8. Of an access that touches several groups,
  /// successive watchpoints take successive groups.
  class Set {
  public:
    Set(HostWatch &In, uint64_t Site, uint64_t Address, uint64_t Size,
        bool IsWrite);
    ~Set();
    Set(const Set &) = delete;
    Set &operator=(const Set &) = delete;

  private:
    HostWatch &In;
    uint32_t Slot = 0; ///< abi::HostWatchpoints::Num: none was free.
  };

private:
  void write(uint32_t Slot, uint64_t Word, uint64_t Site);

  std::array<std::atomic<abi::HostWatchpoints *>, 32> Tables{};
  std::array<std::atomic<bool>, abi::HostWatchpoints::Num> IsTaken{};
  /// Watchpoints so far on accesses that touch several groups.
  std::atomic<uint32_t> NumLong{0};
};

} // namespace crsan

#endif // CRSAN_INJECT_HOST_HOSTWATCH_H
