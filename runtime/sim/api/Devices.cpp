//===- Devices.cpp - What the simulated GPUs say of themselves ------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Process.h"
#include "ProgramCode.h"
#include "SimulatedRun.h"
#include "common/Flags.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace crsan::api;

//===----------------------------------------------------------------------===//
// Properties. What is not set is 0: textures, for one.
//===----------------------------------------------------------------------===//

static void describeLimits(cudaDeviceProp &P) {
  P.totalGlobalMem = size_t(16) << 30;
  P.sharedMemPerBlock = 48 * 1024;
  P.sharedMemPerBlockOptin = Machine::MaxSharedPerBlock;
  P.sharedMemPerMultiprocessor = Machine::MaxSharedPerMultiprocessor;
  P.reservedSharedMemPerBlock = 1024;
  P.regsPerBlock = P.regsPerMultiprocessor = 65536;
  P.warpSize = 32;
  P.memPitch = 0x7fffffff;
  P.maxThreadsPerBlock = 1024;
  P.maxThreadsPerMultiProcessor = Machine::MaxThreadsPerMultiprocessor;
  P.maxBlocksPerMultiProcessor = Machine::MaxBlocksPerMultiprocessor;
  P.maxThreadsDim[0] = P.maxThreadsDim[1] = 1024;
  P.maxThreadsDim[2] = 64;
  P.maxGridSize[0] = 0x7fffffff;
  P.maxGridSize[1] = P.maxGridSize[2] = 65535;
  P.totalConstMem = 64 * 1024;
  P.textureAlignment = P.surfaceAlignment = 512;
  P.texturePitchAlignment = 32;
  P.memoryBusWidth = 5120;
  P.l2CacheSize = 50 << 20;
}

static void describeAbilities(cudaDeviceProp &P) {
  P.canMapHostMemory = P.concurrentKernels = P.unifiedAddressing = 1;
  P.asyncEngineCount = 3;
  P.streamPrioritiesSupported = 1;
  P.globalL1CacheSupported = P.localL1CacheSupported = 1;
  P.managedMemory = P.concurrentManagedAccess = 1;
  P.computePreemptionSupported = 1;
  P.canUseHostPointerForRegisteredMem = 1;
  P.cooperativeLaunch = P.clusterLaunch = 1;
  P.hostRegisterSupported = P.memoryPoolsSupported = 1;
  P.unifiedFunctionPointers = 1;
  P.hostNumaId = -1;
}

static void describe(const Device &D, cudaDeviceProp &P) {
  std::memset(&P, 0, sizeof(P));
  std::strncpy(P.name, "CRSan simulated GPU", sizeof(P.name) - 1);
  std::memcpy(P.uuid.bytes, "CRSan simulated", 15);
  P.uuid.bytes[15] = char(D.Ordinal);
  P.major = Architecture / 10;
  P.minor = Architecture % 10;
  P.multiProcessorCount = int(D.M.options().Multiprocessors);
  P.pciBusID = D.Ordinal + 1;
  P.multiGpuBoardGroupID = D.Ordinal;
  describeLimits(P);
  describeAbilities(P);
}

/// An attribute that is a property; nothing for the others.
static std::optional<int64_t> propertyOf(const cudaDeviceProp &P,
                                         cudaDeviceAttr Attribute) {
  switch (int(Attribute)) {
#define CRSAN_IS(Attribute, Property)                                          \
  case cudaDevAttr##Attribute:                                                 \
    return int64_t(P.Property);
    CRSAN_IS(MaxThreadsPerBlock, maxThreadsPerBlock)
    CRSAN_IS(MaxBlockDimX, maxThreadsDim[0])
    CRSAN_IS(MaxBlockDimY, maxThreadsDim[1])
    CRSAN_IS(MaxBlockDimZ, maxThreadsDim[2])
    CRSAN_IS(MaxGridDimX, maxGridSize[0])
    CRSAN_IS(MaxGridDimY, maxGridSize[1])
    CRSAN_IS(MaxGridDimZ, maxGridSize[2])
    CRSAN_IS(MaxSharedMemoryPerBlock, sharedMemPerBlock)
    CRSAN_IS(TotalConstantMemory, totalConstMem)
    CRSAN_IS(WarpSize, warpSize)
    CRSAN_IS(MaxPitch, memPitch)
    CRSAN_IS(MaxRegistersPerBlock, regsPerBlock)
    CRSAN_IS(TextureAlignment, textureAlignment)
    CRSAN_IS(TexturePitchAlignment, texturePitchAlignment)
    CRSAN_IS(SurfaceAlignment, surfaceAlignment)
    CRSAN_IS(MultiProcessorCount, multiProcessorCount)
    CRSAN_IS(CanMapHostMemory, canMapHostMemory)
    CRSAN_IS(ConcurrentKernels, concurrentKernels)
    CRSAN_IS(PciBusId, pciBusID)
    CRSAN_IS(GlobalMemoryBusWidth, memoryBusWidth)
    CRSAN_IS(L2CacheSize, l2CacheSize)
    CRSAN_IS(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)
    CRSAN_IS(AsyncEngineCount, asyncEngineCount)
    CRSAN_IS(UnifiedAddressing, unifiedAddressing)
    CRSAN_IS(ComputeCapabilityMajor, major)
    CRSAN_IS(ComputeCapabilityMinor, minor)
    CRSAN_IS(StreamPrioritiesSupported, streamPrioritiesSupported)
    CRSAN_IS(GlobalL1CacheSupported, globalL1CacheSupported)
    CRSAN_IS(LocalL1CacheSupported, localL1CacheSupported)
    CRSAN_IS(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor)
    CRSAN_IS(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)
    CRSAN_IS(ManagedMemory, managedMemory)
    CRSAN_IS(MultiGpuBoardGroupID, multiGpuBoardGroupID)
    CRSAN_IS(ConcurrentManagedAccess, concurrentManagedAccess)
    CRSAN_IS(ComputePreemptionSupported, computePreemptionSupported)
    CRSAN_IS(CanUseHostPointerForRegisteredMem,
             canUseHostPointerForRegisteredMem)
    CRSAN_IS(CooperativeLaunch, cooperativeLaunch)
    CRSAN_IS(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)
    CRSAN_IS(HostRegisterSupported, hostRegisterSupported)
    CRSAN_IS(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor)
    CRSAN_IS(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock)
    CRSAN_IS(MemoryPoolsSupported, memoryPoolsSupported)
    CRSAN_IS(ClusterLaunch, clusterLaunch)
    CRSAN_IS(HostNumaId, hostNumaId)
#undef CRSAN_IS
  case cudaDevAttrClockRate:
    return 1980000; // kHz
  case cudaDevAttrMemoryClockRate:
    return 2619000;
  case cudaDevAttrGpuOverlap:
    return 1;
  case cudaDevAttrSingleToDoublePrecisionPerfRatio:
    return 2;
  case cudaDevAttrMemSyncDomainCount:
    return 4;
  case cudaDevAttrNumaId:
    return -1;
  default:
    return std::nullopt;
  }
}

/// Runs a body with the device of that number.
template <typename Body> static cudaError_t withDevice(int Ordinal, Body B) {
  return enter([&](Process &P) {
    if (Ordinal < 0 || Ordinal >= P.deviceCount())
      return cudaErrorInvalidDevice;
    return B(P, P.device(Ordinal));
  });
}

CRSAN_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *Prop,
                                              int Ordinal) {
  return withDevice(Ordinal, [&](Process &, Device &D) {
    if (!Prop)
      return cudaErrorInvalidValue;
    describe(D, *Prop);
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceGetAttribute(int *Value,
                                             cudaDeviceAttr Attribute,
                                             int Ordinal) {
  return withDevice(Ordinal, [&](Process &, Device &D) {
    constexpr int Greatest = 147;
    if (!Value || int(Attribute) < 1 || int(Attribute) > Greatest)
      return cudaErrorInvalidValue;
    cudaDeviceProp Prop;
    describe(D, Prop);
    *Value = int(propertyOf(Prop, Attribute).value_or(0));
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaChooseDevice(int *Ordinal, const cudaDeviceProp *) {
  *Ordinal = 0;
  return cudaSuccess;
}

static std::string pciName(int Ordinal) {
  return fmt::format("0000:{:02X}:00.0", Ordinal + 1);
}

CRSAN_API cudaError_t cudaDeviceGetPCIBusId(char *Name, int Size, int Ordinal) {
  return withDevice(Ordinal, [&](Process &, Device &D) {
    std::string Text = pciName(D.Ordinal);
    if (!Name || Size <= int(Text.size()))
      return cudaErrorInvalidValue;
    std::memcpy(Name, Text.c_str(), Text.size() + 1);
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceGetByPCIBusId(int *Ordinal, const char *Name) {
  return enter([&](Process &P) {
    for (int I = 0; I < P.deviceCount(); ++I)
      if (Name && pciName(I) == Name) {
        *Ordinal = I;
        return cudaSuccess;
      }
    return cudaErrorInvalidValue;
  });
}

//===----------------------------------------------------------------------===//
// The current device
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaGetDeviceCount(int *Count) {
  return enter([&](Process &P) {
    if (!Count)
      return cudaErrorInvalidValue;
    *Count = P.deviceCount();
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaSetDevice(int Ordinal) {
  return withDevice(Ordinal, [&](Process &, Device &D) {
    thisThread().Device = Ordinal;
    return D.Sticky;
  });
}

CRSAN_API cudaError_t cudaInitDevice(int Ordinal, unsigned, unsigned) {
  return withDevice(Ordinal, [](Process &, Device &) { return cudaSuccess; });
}

CRSAN_API cudaError_t cudaGetDevice(int *Ordinal) {
  return enter([&](Process &) {
    if (!Ordinal)
      return cudaErrorInvalidValue;
    *Ordinal = thisThread().Device;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaSetValidDevices(int *, int) { return cudaSuccess; }

CRSAN_API cudaError_t cudaGetDeviceFlags(unsigned *Flags) {
  return enter([&](Process &P) {
    *Flags = P.current().Flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaSetDeviceFlags(unsigned Flags) {
  return enter([&](Process &P) {
    if (Flags & ~unsigned(cudaDeviceMask))
      return cudaErrorInvalidValue;
    P.current().Flags = Flags;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceSynchronize() {
  return enterDevice([](Process &P) {
    CUcontext Ctx = P.current().context();
    const uint64_t Awaited =
        P.session() ? P.session()->ordering().awaitingIdle(Ctx) : 0;
    cudaError_t Error = P.waitAll(P.current());
    if (Error == cudaSuccess && P.session())
      P.session()->becameIdle(Ctx, Awaited);
    return Error;
  });
}

CRSAN_API cudaError_t cudaDeviceReset() {
  Process &P = Process::get();
  Device &D = P.current();
  {
    Process::Guard G(P);
    P.waitAll(D);
  }
  // Findings are taken before they are gone, without the lock.
  if (crsan::Session *S = P.session()) {
    S->deviceEnding(D.Ordinal);
    S->contextGone(D.context());
  }
  Process::Guard G(P);
  P.resetDevice(D);
  thisThread().Last = cudaSuccess;
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Peers
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaDeviceCanAccessPeer(int *Can, int Ordinal, int Peer) {
  return withDevice(Ordinal, [&](Process &P, Device &) {
    if (Peer < 0 || Peer >= P.deviceCount())
      return cudaErrorInvalidDevice;
    *Can = Ordinal != Peer;
    return cudaSuccess;
  });
}

/// Calls with each allocation of the peer's.
template <typename Visit> static void forEachOf(Process &P, int Peer, Visit V) {
  for (auto &[Base, A] : P.Allocations)
    if (A.What == Allocation::Kind::Device && A.Device == Peer)
      V(A);
}

CRSAN_API cudaError_t cudaDeviceEnablePeerAccess(int Peer, unsigned Flags) {
  return enterDevice([&](Process &P) {
    Device &D = P.current();
    if (Flags)
      return cudaErrorInvalidValue;
    if (Peer < 0 || Peer >= P.deviceCount() || Peer == D.Ordinal)
      return cudaErrorInvalidDevice;
    if (!D.Peers.insert(Peer).second)
      return cudaErrorPeerAccessAlreadyEnabled;
    forEachOf(P, Peer, [&](Allocation &A) { D.M.allowRange(A.Base, A.Size); });
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceDisablePeerAccess(int Peer) {
  return enterDevice([&](Process &P) {
    Device &D = P.current();
    if (Peer < 0 || Peer >= P.deviceCount())
      return cudaErrorInvalidDevice;
    if (!D.Peers.contains(Peer))
      return cudaErrorPeerAccessNotEnabled;
    P.drain();
    D.Peers.erase(Peer);
    forEachOf(P, Peer, [&](Allocation &A) { D.M.disallowRange(A.Base); });
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceGetP2PAttribute(int *Value,
                                                cudaDeviceP2PAttr Attribute,
                                                int From, int To) {
  return withDevice(From, [&](Process &P, Device &) {
    if (To < 0 || To >= P.deviceCount() || From == To)
      return cudaErrorInvalidDevice;
    *Value = Attribute != cudaDevP2PAttrPerformanceRank;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Limits and preferences
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaDeviceSetLimit(cudaLimit Limit, size_t Value) {
  return enterDevice([&](Process &P) {
    P.current().Limits[Limit] = Value;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceGetLimit(size_t *Value, cudaLimit Limit) {
  return enterDevice([&](Process &P) {
    auto Set = P.current().Limits.find(Limit);
    if (Set != P.current().Limits.end()) {
      *Value = Set->second;
      return cudaSuccess;
    }
    switch (int(Limit)) {
    case cudaLimitStackSize:
      *Value = 1024;
      return cudaSuccess;
    case cudaLimitPrintfFifoSize:
      *Value = 7 << 20;
      return cudaSuccess;
    case cudaLimitMallocHeapSize:
      *Value = 8 << 20;
      return cudaSuccess;
    case cudaLimitMaxL2FetchGranularity:
      *Value = 64;
      return cudaSuccess;
    case cudaLimitDevRuntimeSyncDepth:
    case cudaLimitDevRuntimePendingLaunchCount:
    case cudaLimitPersistingL2CacheSize:
      *Value = 0;
      return cudaSuccess;
    default:
      return cudaErrorUnsupportedLimit;
    }
  });
}

CRSAN_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *Config) {
  *Config = cudaFuncCachePreferNone;
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *C) {
  *C = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Versions, tools
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaDriverGetVersion(int *Version) {
  *Version = CUDART_VERSION;
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaRuntimeGetVersion(int *Version) {
  *Version = CUDART_VERSION;
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaProfilerStart() { return cudaSuccess; }
CRSAN_API cudaError_t cudaProfilerStop() { return cudaSuccess; }

// There is no driver below: nothing is found, as CUDA says it of an unknown
// name.
static cudaError_t noEntryPoint(void **Function,
                                cudaDriverEntryPointQueryResult *Status) {
  *Function = nullptr;
  if (Status)
    *Status = cudaDriverEntryPointSymbolNotFound;
  return thisThread().Last = cudaErrorSymbolNotFound;
}

#define CRSAN_ENTRY_POINT(Name, ...)                                           \
  CRSAN_API cudaError_t Name(const char *, void **Function,                    \
                             __VA_ARGS__ unsigned long long,                   \
                             cudaDriverEntryPointQueryResult *Status) {        \
    return noEntryPoint(Function, Status);                                     \
  }
CRSAN_ENTRY_POINT(cudaGetDriverEntryPoint)
CRSAN_ENTRY_POINT(cudaGetDriverEntryPoint_ptsz)
CRSAN_ENTRY_POINT(cudaGetDriverEntryPointByVersion, unsigned, )
CRSAN_ENTRY_POINT(cudaGetDriverEntryPointByVersion_ptsz, unsigned, )
#undef CRSAN_ENTRY_POINT
