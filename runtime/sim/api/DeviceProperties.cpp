// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the simulated GPUs say of themselves.
//
// What is not set is 0: textures, for one.

#include "Process.h"
#include "common/Flags.h"

#include <fmt/format.h>

#include <cstring>

using namespace crsan::api;

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
