//===- ShadowMemory.h - Device memory for shadow, in slots ------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_SHADOW_SHADOWMEMORY_H
#define CRSAN_INJECT_SHADOW_SHADOWMEMORY_H

#include "crsan/abi/Cell.h"

#include <cuda.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace crsan {

/// Slots of the size that the exact shadow of a page needs, in what the program
/// leaves of a device's memory. Neighbouring addresses are given out one after
/// the other, so that they can be cleared together. Every call calls the
/// driver, in the current context.
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
  // There is no destructor: the memory goes with its context, which may be gone
  // already, or while a kernel still uses it.

  /// The address of a slot with arbitrary content, or 0 where the limit is
  /// reached or there is no memory.
  uint64_t take();
  /// Nobody uses the slot any more. It is kept for the next.
  void put(uint64_t Slot) { Idle.push_back(Slot); }
  /// Gives slots that nobody uses back to the driver, until about so many bytes
  /// are given back or none is left. Returns how many were.
  uint64_t release(uint64_t Bytes);

  /// Bytes taken from the driver, used or not.
  uint64_t held() const { return Held; }

  struct Info {
    uint64_t Free = 0, Total = 0;
  };
  /// Of the device; all zero where the driver does not tell.
  static Info ask();
  /// What is left to the program at any time, of a device of so many bytes.
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
