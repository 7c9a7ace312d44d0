// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watchpoints of host threads, which kernels find.

#include "host/HostWatch.h"

#include "common/Log.h"
#include "common/PinnedMemory.h"

#include <algorithm>
#include <new>
#include <string>

namespace crsan {

CUdeviceptr HostWatch::share() {
  std::string Error;
  const PinnedMemory Memory =
      PinnedMemory::make(sizeof(abi::HostWatchpoints), Error);
  if (Memory.Host) {
    auto *New = new (Memory.Host) abi::HostWatchpoints{};
    for (auto &Place : Tables) {
      abi::HostWatchpoints *Free = nullptr;
      if (Place.compare_exchange_strong(Free, New))
        return Memory.Device;
    }
    Error = "too many contexts";
  }
  theLog().say("{}; kernels do not see which memory host threads are about to "
               "access",
               Error);
  return 0;
}

void HostWatch::closeForChild() {
  for (auto &Place : Tables)
    Place = nullptr;
}

/// Word 0 clears the watchpoint.
void HostWatch::write(uint32_t Slot, uint64_t Word, uint64_t Site) {
  for (auto &Place : Tables) {
    abi::HostWatchpoints *Table = Place;
    if (!Table)
      break;
    if (Word) {
      __atomic_store_n(&Table->Sites[Slot], Site, __ATOMIC_RELAXED);
      __atomic_fetch_add(&Table->NumSet, 1, __ATOMIC_RELAXED);
    }
    const uint64_t Before =
        __atomic_exchange_n(&Table->Words[Slot], Word, __ATOMIC_RELEASE);
    // A table may have come while the watchpoint was set.
    if (!Word && Before)
      __atomic_fetch_sub(&Table->NumSet, 1, __ATOMIC_RELAXED);
  }
}

HostWatch::Set::Set(HostWatch &In, uint64_t Site, uint64_t Address,
                    uint64_t Size, bool IsWrite)
    : In(In) {
  while (Slot < In.IsTaken.size() && In.IsTaken[Slot].exchange(true))
    ++Slot;
  if (Slot == In.IsTaken.size())
    return;
  const uint64_t End = Address + Size;
  const uint64_t Units = (End - 1) / 8 - Address / 8 + 1;
  if (Units > 1) {
    const uint64_t Unit = In.NumLong.fetch_add(1) % Units;
    Address = std::max(Address, (Address / 8 + Unit) * 8);
  }
  In.write(Slot, abi::watchpointAt(Address, End - Address, IsWrite), Site);
}

HostWatch::Set::~Set() {
  if (Slot == In.IsTaken.size())
    return;
  In.write(Slot, 0, 0);
  In.IsTaken[Slot] = false;
}

} // namespace crsan
