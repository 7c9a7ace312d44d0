// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds watchpoints that threads of the host have set.
#ifndef CRSAN_DEVICE_COLLIDER_HOSTWATCHPOINT_H
#define CRSAN_DEVICE_COLLIDER_HOSTWATCHPOINT_H

#include "collider/Race.h"
#include "collider/Watchpoint.h"

namespace crsan::device {

/// Looks for watchpoints of host threads on bytes that this lane is about to
/// access, by those accesses of `G` that are in the mask `Checked`, and reports
/// each that conflicts. The host does not learn of it: an atomic operation of a
/// GPU on memory of the host need not be atomic for the host.
DEVICE void meetHost(Site *Sites, const Group &G, uint32_t Checked) {
  const auto *Table =
      reinterpret_cast<const HostWatchpoints *>(__crsan_config.HostWatchpoints);
  if (!Table || loadOfHost(Table->NumSet) == 0)
    return;
#pragma unroll 1
  for (uint32_t Slot = 0; Slot < HostWatchpoints::Num; ++Slot) {
    const uint64_t Word = loadOfHost(Table->Words[Slot]);
    const Address From = Word >> 10 << 3; // The 8 bytes that it is about.
    if (Word == 0)
      continue;
#pragma unroll 1
    for (uint32_t Todo = Checked; Todo; Todo &= Todo - 1) {
      const uint32_t I = __builtin_ctz(Todo);
      const Access A = Access::of(G, Sites, I);
      const Address End = A.At + A.Size, Begin = A.At < From ? From : A.At;
      if (Begin >= End || Begin - From >= 8 ||
          !conflict(watchpointAt(Begin, End - Begin, A.IsWrite), Word))
        continue;
      // The site is read between two reads of the word. If another site has set
      // an equal word in between, both sites conflict with the access.
      __nvvm_membar_sys();
      const uint64_t HostSite = loadOfHost(Table->Sites[Slot]);
      __nvvm_membar_sys();
      if (loadOfHost(Table->Words[Slot]) == Word)
        __crsan_race(&Sites[I], A.At, HostSite, 0,
                     uint64_t(1u << lane()) << 32 |
                         uint32_t(RaceKind::Conflict));
    }
  }
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_HOSTWATCHPOINT_H
