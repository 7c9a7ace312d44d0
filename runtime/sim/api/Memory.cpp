// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocation, registration, pointers.
//
// Device pointers are host pointers. What differs between the kinds of memory
// is who may touch it, how long it lives, and what copies wait for.

#include "DeviceMemory.h"
#include "GraphMemory.h"

#include <algorithm>

using namespace crsan::api;

/// What the device says it has.
static constexpr size_t TotalBytes = size_t(16) << 30;

static size_t bytesInUse(const Process &P, const Device &D) {
  size_t Sum = 0;
  for (const auto &[Base, A] : P.Allocations)
    if (A.What == Allocation::Kind::Device && A.Device == D.Ordinal &&
        (!A.OfGraph || A.OfGraph->IsAllocated || A.OfGraph->IsThere))
      Sum += A.Size;
  return Sum;
}

cudaError_t crsan::api::allocateDevice(Process &P, Device &D, void **Result,
                                       size_t Size, CUmemPoolHandle_st *Pool,
                                       std::shared_ptr<GraphMemory> OfGraph) {
  *Result = nullptr;
  if (Size == 0)
    return cudaSuccess;
  if (Size > TotalBytes || bytesInUse(P, D) + Size > TotalBytes)
    return cudaErrorMemoryAllocation;
  void *Base = D.M.allocate(Size);
  if (!Base)
    return cudaErrorMemoryAllocation;
  const bool IsThere = !OfGraph;
  P.addAllocation({.What = Allocation::Kind::Device,
                   .Base = Base,
                   .Size = Size,
                   .Device = D.Ordinal,
                   .Pool = Pool,
                   .OfGraph = std::move(OfGraph)});
  if (Pool && IsThere)
    Pool->countUse(Size);
  *Result = Base;
  return cudaSuccess;
}

/// Memory of the host's that every device may touch.
static cudaError_t allocateHost(Process &P, void **Result, size_t Size,
                                Allocation::Kind What, unsigned Flags) {
  *Result = nullptr;
  if (Size == 0)
    return What == Allocation::Kind::Managed ? cudaErrorInvalidValue
                                             : cudaSuccess;
  void *Base = P.mapHost(Size);
  if (!Base)
    return cudaErrorMemoryAllocation;
  P.addAllocation({What, Base, Size, P.current().Ordinal, Flags, nullptr});
  *Result = Base;
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// cudaMalloc and its kin
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaMalloc(void **Result, size_t Size) {
  return enterDevice([&](Process &P) {
    return Result ? allocateDevice(P, P.current(), Result, Size, nullptr)
                  : cudaErrorInvalidValue;
  });
}

CRSAN_API cudaError_t cudaMallocHost(void **Result, size_t Size) {
  return enterDevice([&](Process &P) {
    return allocateHost(P, Result, Size, Allocation::Kind::Host,
                        cudaHostAllocDefault);
  });
}

CRSAN_API cudaError_t cudaHostAlloc(void **Result, size_t Size,
                                    unsigned Flags) {
  return enterDevice([&](Process &P) {
    constexpr unsigned Known = cudaHostAllocPortable | cudaHostAllocMapped |
                               cudaHostAllocWriteCombined;
    if (Flags & ~Known)
      return cudaErrorInvalidValue;
    return allocateHost(P, Result, Size, Allocation::Kind::Host, Flags);
  });
}

CRSAN_API cudaError_t cudaMallocManaged(void **Result, size_t Size,
                                        unsigned Flags) {
  return enterDevice([&](Process &P) {
    if (Flags != cudaMemAttachGlobal && Flags != cudaMemAttachHost)
      return cudaErrorInvalidValue;
    return allocateHost(P, Result, Size, Allocation::Kind::Managed, Flags);
  });
}

static constexpr size_t PitchBytes = 512;

CRSAN_API cudaError_t cudaMallocPitch(void **Result, size_t *Pitch,
                                      size_t Width, size_t Height) {
  return enterDevice([&](Process &P) {
    *Pitch = (Width + PitchBytes - 1) / PitchBytes * PitchBytes;
    return allocateDevice(P, P.current(), Result, *Pitch * Height, nullptr);
  });
}

CRSAN_API cudaError_t cudaMalloc3D(cudaPitchedPtr *Result, cudaExtent Extent) {
  return enterDevice([&](Process &P) {
    Result->pitch = (Extent.width + PitchBytes - 1) / PitchBytes * PitchBytes;
    Result->xsize = Extent.width;
    Result->ysize = Extent.height;
    return allocateDevice(P, P.current(), &Result->ptr,
                          Result->pitch * Extent.height * Extent.depth,
                          nullptr);
  });
}

/// Waits for what may still use the memory, as hardware does.
static void waitForUsers(Process &P, const Allocation &A) {
  P.waitAll(P.current());
  if (A.Device != P.current().Ordinal)
    P.waitAll(P.device(A.Device));
}

/// cudaFree() of memory that a launch of a graph has allocated.
static cudaError_t freeNow(Process &P, Allocation &A) {
  if (!A.OfGraph->IsAllocated)
    return cudaErrorInvalidValue;
  waitForUsers(P, A);
  A.OfGraph->IsAllocated = false;
  noteFreed(P, *A.OfGraph);
  P.endLifetime(*A.OfGraph);
  dropUnusedGraphMemory(P);
  return P.current().Sticky;
}

/// Frees what was given out as one of the kinds.
static cudaError_t release(Process &P, void *Base,
                           std::initializer_list<Allocation::Kind> Kinds) {
  if (!Base)
    return cudaSuccess;
  Allocation *A = P.findAllocation(Base);
  bool Fits = false;
  for (Allocation::Kind K : Kinds)
    Fits |= A && A->What == K;
  if (!Fits || A->Base != Base)
    return cudaErrorInvalidValue;
  if (A->OfGraph)
    return freeNow(P, *A);
  waitForUsers(P, *A);
  P.dropAllocation(Base);
  return P.current().Sticky;
}

CRSAN_API cudaError_t cudaFree(void *Base) {
  return enterDevice([&](Process &P) {
    return release(P, Base,
                   {Allocation::Kind::Device, Allocation::Kind::Managed});
  });
}

CRSAN_API cudaError_t cudaFreeHost(void *Base) {
  return enterDevice(
      [&](Process &P) { return release(P, Base, {Allocation::Kind::Host}); });
}

CRSAN_API cudaError_t cudaHostRegister(void *Base, size_t Size,
                                       unsigned Flags) {
  return enterDevice([&](Process &P) {
    if (!Base || !Size)
      return cudaErrorInvalidValue;
    if (P.findAllocation(Base))
      return cudaErrorHostMemoryAlreadyRegistered;
    P.addAllocation({Allocation::Kind::Registered, Base, Size,
                     P.current().Ordinal, Flags, nullptr});
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaHostUnregister(void *Base) {
  return enterDevice([&](Process &P) {
    Allocation *A = P.findAllocation(Base);
    if (!A || A->What != Allocation::Kind::Registered || A->Base != Base)
      return cudaErrorHostMemoryNotRegistered;
    waitForUsers(P, *A);
    P.dropAllocation(Base);
    return P.current().Sticky;
  });
}

CRSAN_API cudaError_t cudaHostGetDevicePointer(void **Result, void *Host,
                                               unsigned Flags) {
  return enterDevice([&](Process &P) {
    Allocation *A = P.findAllocation(Host);
    if (!A || A->What == Allocation::Kind::Device || Flags)
      return cudaErrorInvalidValue;
    *Result = Host;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaHostGetFlags(unsigned *Flags, void *Host) {
  return enterDevice([&](Process &P) {
    Allocation *A = P.findAllocation(Host);
    if (!A || (A->What != Allocation::Kind::Host &&
               A->What != Allocation::Kind::Registered))
      return cudaErrorInvalidValue;
    // Unified addressing maps all of it.
    *Flags = A->Flags | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaMemGetInfo(size_t *Free, size_t *Total) {
  return enterDevice([&](Process &P) {
    *Total = TotalBytes;
    *Free = TotalBytes - bytesInUse(P, P.current());
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *Result,
                                               const void *Address) {
  return enterDevice([&](Process &P) {
    *Result = {};
    Result->device = -1;
    Result->hostPointer = const_cast<void *>(Address);
    auto SetDevice = [&](int Ordinal) {
      Result->device = Ordinal;
      Result->devicePointer = const_cast<void *>(Address);
    };
    if (Allocation *A = P.findAllocation(Address)) {
      SetDevice(A->Device);
      Result->type = A->What == Allocation::Kind::Device ? cudaMemoryTypeDevice
                     : A->What == Allocation::Kind::Managed
                         ? cudaMemoryTypeManaged
                         : cudaMemoryTypeHost;
      if (A->What == Allocation::Kind::Device)
        Result->hostPointer = nullptr;
      return cudaSuccess;
    }
    // Variables of modules.
    for (int I = 0; I < P.deviceCount(); ++I)
      if (P.device(I).M.rangeOf(Address)) {
        SetDevice(I);
        Result->type = cudaMemoryTypeDevice;
        Result->hostPointer = nullptr;
        return cudaSuccess;
      }
    Result->type = cudaMemoryTypeUnregistered;
    Result->device = cudaInvalidDeviceId;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Managed memory: hints
//===----------------------------------------------------------------------===//

static cudaError_t checkManaged(const void *Base, size_t Size) {
  return enterDevice([&](Process &P) {
    Allocation *A = P.findAllocation(Base);
    if (!A || A->What != Allocation::Kind::Managed || !Size)
      return cudaErrorInvalidValue;
    auto End = static_cast<const char *>(A->Base) + A->Size;
    return static_cast<const char *>(Base) + Size <= End
               ? cudaSuccess
               : cudaErrorInvalidValue;
  });
}

CRSAN_API cudaError_t cudaMemAdvise(const void *Base, size_t Size,
                                    cudaMemoryAdvise, cudaMemLocation) {
  return checkManaged(Base, Size);
}

CRSAN_API cudaError_t cudaMemPrefetchAsync(const void *Base, size_t Size,
                                           cudaMemLocation, unsigned,
                                           cudaStream_t) {
  return checkManaged(Base, Size);
}

CRSAN_API cudaError_t cudaMemPrefetchAsync_ptsz(const void *Base, size_t Size,
                                                cudaMemLocation, unsigned,
                                                cudaStream_t) {
  return checkManaged(Base, Size);
}

CRSAN_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *Base, size_t,
                                               unsigned) {
  return checkManaged(Base, 1);
}

CRSAN_API cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t, void *Base,
                                                    size_t, unsigned) {
  return checkManaged(Base, 1);
}
