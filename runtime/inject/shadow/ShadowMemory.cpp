// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory for shadow, in slots.

#include "shadow/ShadowMemory.h"

#include "common/Driver.h"

#include <algorithm>
#include <utility>

namespace crsan {

ShadowMemory::Info ShadowMemory::ask() {
  Driver &D = theDriver();
  size_t Free = 0, Total = 0;
  if (!D.cuMemGetInfo || D.cuMemGetInfo(&Free, &Total) != CUDA_SUCCESS)
    return {};
  return {Free, Total};
}

uint64_t ShadowMemory::reserve(uint64_t Total) {
  return std::max<uint64_t>(Total / 20, uint64_t(256) << 20);
}

bool ShadowMemory::hasRoom() const {
  if (Limit && Held + SlotBytes > Limit)
    return false;
  Info Now = ask();
  return Now.Total == 0 || Now.Free >= reserve(Now.Total) + SlotBytes;
}

uint64_t ShadowMemory::take() {
  if (!Idle.empty()) {
    uint64_t Slot = Idle.back();
    Idle.pop_back();
    return Slot;
  }
  if (!hasRoom())
    return 0;
  uint64_t Slot = 0;
  if (What == Kind::Device)
    Slot = reserveAddresses() ? map() : allocate();
  else if (CUdeviceptr Address = 0;
           theDriver().cuMemAllocManaged &&
           theDriver().cuMemAllocManaged(&Address, SlotBytes,
                                         CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS)
    Slot = Address;
  if (Slot)
    Held += SlotBytes;
  return Slot;
}

/// Where the driver has no functions to map memory.
uint64_t ShadowMemory::allocate() {
  Driver &D = theDriver();
  CUdeviceptr Address = 0;
  if (D.cuMemAlloc(&Address, SlotBytes) != CUDA_SUCCESS)
    return 0;
  // A page table entry has no room for other addresses.
  if (Address % 4096 == 0)
    return Address;
  if (D.cuMemFree)
    D.cuMemFree(Address);
  return 0;
}

bool ShadowMemory::reserveAddresses() {
  Driver &D = theDriver();
  if (!std::exchange(TriedToReserve, true)) {
    if (!D.cuMemAddressReserve || !D.cuMemCreate || !D.cuMemMap ||
        !D.cuMemUnmap || !D.cuMemRelease || !D.cuMemSetAccess)
      return false;
    // Shadow of everything on the device. Addresses cost nothing, but may be
    // short.
    uint64_t Bytes =
        ask().Total / abi::PageBytes * SlotBytes + (uint64_t(1) << 30);
    CUdeviceptr Base = 0;
    for (; !Base && Bytes >= uint64_t(1) << 30; Bytes /= 2) {
      Bytes = Bytes / SlotBytes * SlotBytes;
      if (D.cuMemAddressReserve(&Base, Bytes, SlotBytes, 0, 0) ==
          CUDA_SUCCESS) {
        Next = Base;
        End = Base + Bytes;
      }
    }
  }
  return End != 0;
}

/// Puts memory behind one slot of the reserved addresses.
uint64_t ShadowMemory::map() {
  Driver &D = theDriver();
  uint64_t Slot = 0;
  if (!Vacant.empty())
    Slot = Vacant.back();
  else if (Next != End)
    Slot = Next;
  else
    return 0;
  CUmemAllocationProp Where{};
  Where.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  Where.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  Where.location.id = Device;
  CUmemGenericAllocationHandle Memory = 0;
  if (D.cuMemCreate(&Memory, SlotBytes, &Where, 0) != CUDA_SUCCESS)
    return 0;
  CUmemAccessDesc Access{};
  Access.location = Where.location;
  Access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUresult Result = D.cuMemMap(Slot, SlotBytes, 0, Memory, 0);
  if (Result != CUDA_SUCCESS) {
    D.cuMemRelease(Memory);
    return 0;
  }
  if (D.cuMemSetAccess(Slot, SlotBytes, &Access, 1) != CUDA_SUCCESS) {
    D.cuMemUnmap(Slot, SlotBytes);
    D.cuMemRelease(Memory);
    return 0;
  }
  Mapped.emplace(Slot, Memory);
  if (!Vacant.empty())
    Vacant.pop_back();
  else
    Next += SlotBytes;
  return Slot;
}

uint64_t ShadowMemory::release(uint64_t Bytes) {
  Driver &D = theDriver();
  uint64_t Released = 0;
  while (!Idle.empty() && Released < Bytes) {
    uint64_t Slot = Idle.back();
    if (auto Found = Mapped.find(Slot); Found != Mapped.end()) {
      if (D.cuMemUnmap(Slot, SlotBytes) != CUDA_SUCCESS)
        break;
      D.cuMemRelease(Found->second);
      Mapped.erase(Found);
      Vacant.push_back(Slot);
    } else if (!D.cuMemFree || D.cuMemFree(Slot) != CUDA_SUCCESS) {
      break;
    }
    Idle.pop_back();
    Held -= SlotBytes;
    Released += SlotBytes;
  }
  return Released;
}

} // namespace crsan
