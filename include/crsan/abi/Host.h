// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checked accesses of host code.
//
// Host code that is compiled with -fsanitize-cuda-race-host asks its gate
// before each weak access whether a GPU may be working on that memory, and if
// so calls the library. Each executable and each shared library has one gate
// and, in the section HostUnitsSection, a HostUnit for each of its translation
// units. The host part tells the library of both.
#ifndef CRSAN_ABI_HOST_H
#define CRSAN_ABI_HOST_H

#include "crsan/abi/MemoryModel.h"

#include <cstddef>

namespace crsan::abi {

/// A checked access. Memory of the program, initialised by the pass. Any thread
/// may write the counters at any time.
struct HostSite {
  uint64_t Id;   ///< SiteEntry::Id.
  uint32_t Size; ///< Bytes accessed; 0: the length is an operand of the check.
  AccessKind Access;
  uint8_t Reserved[3];
  uint32_t Number; ///< The library's name for the site, from 1.
  /// The record of the first race, plus 1. 0: no race yet; ~0u: there was no
  /// room.
  uint32_t Slot;
  /// Changes whenever a GPU is given work: when the site was executed last.
  uint32_t Epoch;
  uint32_t SinceEpoch; ///< Executions since Epoch has changed.
  /// Executions that found their memory within reach of a GPU with unfinished
  /// work, how many of these were checked, and how many checks found a race.
  uint64_t Executed, Checked, Hits;
};
static_assert(
    sizeof(HostSite) == 56 && offsetof(HostSite, Id) == 0 &&
    offsetof(HostSite, Size) == 8 && offsetof(HostSite, Access) == 12 &&
    offsetof(HostSite, Reserved) == 13 && offsetof(HostSite, Number) == 16 &&
    offsetof(HostSite, Slot) == 20 && offsetof(HostSite, Epoch) == 24 &&
    offsetof(HostSite, SinceEpoch) == 28 &&
    offsetof(HostSite, Executed) == 32 && offsetof(HostSite, Checked) == 40 &&
    offsetof(HostSite, Hits) == 48);

/// A translation unit.
struct HostUnit {
  const void *Table; ///< Its site table (SiteTable.h).
  uint64_t TableSize;
  HostSite *Sites;
  uint64_t NumSites;
};
static_assert(sizeof(HostUnit) == 32 && offsetof(HostUnit, Table) == 0 &&
              offsetof(HostUnit, TableSize) == 8 &&
              offsetof(HostUnit, Sites) == 16 &&
              offsetof(HostUnit, NumSites) == 24);

/// What code reads before each access. The library writes it at any time.
struct HostGate {
  /// Accesses to addresses from Begin on, to less than Begin + Size, are told
  /// to Check. Both are 0 as long as no GPU can be at work.
  uint64_t Begin, Size;
  /// Called immediately before an access. Never null. Length: of an access
  /// whose site has no size.
  void (*Check)(HostSite *Site, uint64_t Address, uint64_t Length);
};
static_assert(sizeof(HostGate) == 24 && offsetof(HostGate, Begin) == 0 &&
              offsetof(HostGate, Size) == 8 && offsetof(HostGate, Check) == 16);

} // namespace crsan::abi

#endif // CRSAN_ABI_HOST_H
