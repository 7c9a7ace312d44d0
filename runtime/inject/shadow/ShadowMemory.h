// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory for shadow, in slots.
#ifndef CRSAN_INJECT_SHADOW_SHADOWMEMORY_H
#define CRSAN_INJECT_SHADOW_SHADOWMEMORY_H

#include "crsan/abi/Cell.h"

#include <cuda.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace crsan {

/// Device memory for shadow, in slots of the size that the exact shadow of a
/// page needs. Part of the memory is left to the program. Slots at neighboring
/// addresses are given out one after the other, so that they can be cleared
/// together. The functions call the driver, in the current context.
class ShadowMemory {
public:
  enum class Kind {
    Device,  ///< Mapped into a range of addresses, or else allocated.
    Managed, ///< iGUARD 6.1: may be moved to the host when it gets tight.
  };
  static constexpr uint64_t SlotBytes = abi::ExactPageShadow;

  /// Limit: bytes; 0: what the program leaves free.
  ShadowMemory(CUdevice Device, Kind What, uint64_t Limit)
      : Device(Device), What(What), Limit(Limit) {}
  // There is no destructor. The memory ends with its context, which may have
  // ended already, and a kernel may still use it.

  /// The address of a slot with arbitrary content, or 0 where the limit is
  /// reached or there is no memory.
  uint64_t take();
  /// The slot is not used anymore. It is kept for the next take().
  void put(uint64_t Slot) { Idle.push_back(Slot); }
  /// Gives unused slots back to the driver until so many bytes are given back
  /// or no unused slot is left. Returns the number of bytes given back.
  uint64_t release(uint64_t Bytes);

  /// Bytes taken from the driver, used or not.
  uint64_t held() const { return Held; }

  struct Info {
    uint64_t Free = 0, Total = 0;
  };
  /// The device's memory; zero where the driver does not tell.
  static Info ask();
  /// What is always left to the program on a device with so many bytes.
  static uint64_t reserve(uint64_t Total);

private:
  bool hasRoom() const;
  uint64_t allocate();
  bool reserveAddresses();
  uint64_t map();

  const CUdevice Device;
  const Kind What;
  const uint64_t Limit;
  uint64_t Held = 0;
  std::vector<uint64_t> Idle;
  bool TriedToReserve = false;
  uint64_t Next = 0, End = 0;   ///< Addresses that were never used.
  std::vector<uint64_t> Vacant; ///< Addresses with nothing mapped there.
  std::unordered_map<uint64_t, CUmemGenericAllocationHandle> Mapped;
};

} // namespace crsan

#endif // CRSAN_INJECT_SHADOW_SHADOWMEMORY_H
