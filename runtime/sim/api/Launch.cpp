//===- Launch.cpp - Kernels: launches, attributes, occupancy --------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "ProgramCode.h"
#include "SimulatedRun.h"
#include "common/Driver.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace crsan::api {

static constexpr size_t DefaultShared = 48 * 1024;

static Dim3 dims(dim3 D) { return {D.x, D.y, D.z}; }

static size_t dynamicLimit(const CUkern_st &Kernel, const KernelInfo &Info,
                           const Device &D) {
  auto Set = Kernel.MaxDynamicShared.find(D.Ordinal);
  size_t Default =
      DefaultShared - std::min<size_t>(DefaultShared, Info.StaticShared);
  if (Set == Kernel.MaxDynamicShared.end())
    return Default;
  return std::max<size_t>(Default, size_t(Set->second));
}

static uint64_t residentBlocks(const Device &D, const KernelInfo &Info,
                               uint64_t Threads, size_t Shared) {
  return uint64_t(D.M.blocksPerMultiprocessor(Info, uint32_t(Threads),
                                              uint32_t(Shared))) *
         D.M.options().Multiprocessors;
}

static cudaError_t checkShape(const LaunchRequest &R, const KernelInfo &Info) {
  const dim3 &G = R.Grid, &B = R.Block;
  constexpr uint32_t MostX = 0x7fffffff, MostYZ = 65535;
  if (!G.x || !G.y || !G.z || G.x > MostX || G.y > MostYZ || G.z > MostYZ)
    return cudaErrorInvalidConfiguration;
  uint64_t Threads = uint64_t(B.x) * B.y * B.z;
  if (!Threads || B.x > 1024 || B.y > 1024 || B.z > 64 || Threads > 1024)
    return cudaErrorInvalidConfiguration;
  if (Threads > Info.MaxThreads)
    return cudaErrorInvalidValue;
  if (Info.RequiredBlock && !(*Info.RequiredBlock == dims(B)))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

static cudaError_t checkCluster(const LaunchRequest &R, const CUkern_st &Kernel,
                                const KernelInfo &Info, Dim3 &Cluster) {
  Cluster = dims(R.Cluster);
  if (Info.RequiredCluster) {
    if (R.HasCluster && !(Cluster == *Info.RequiredCluster))
      return cudaErrorInvalidClusterSize;
    Cluster = *Info.RequiredCluster;
  }
  constexpr uint64_t Portable = 8, Most = 16;
  if (!Cluster.count() ||
      Cluster.count() > (Kernel.NonPortableCluster ? Most : Portable))
    return cudaErrorInvalidClusterSize;
  if (R.Grid.x % Cluster.X || R.Grid.y % Cluster.Y || R.Grid.z % Cluster.Z)
    return cudaErrorInvalidClusterSize;
  return cudaSuccess;
}

cudaError_t prepareLaunch(Process &P, Device &D, const LaunchRequest &R,
                          Launch &Result) {
  cudaError_t Error = cudaSuccess;
  const KernelInfo *Info = P.infoOf(*R.Kernel, D, Error);
  if (!Info)
    return Error;
  Dim3 Cluster;
  if ((Error = checkShape(R, *Info)) != cudaSuccess ||
      (Error = checkCluster(R, *R.Kernel, *Info, Cluster)) != cudaSuccess)
    return Error;
  if (R.Shared > dynamicLimit(*R.Kernel, *Info, D))
    return cudaErrorInvalidValue;
  uint64_t Threads = uint64_t(R.Block.x) * R.Block.y * R.Block.z;
  uint64_t Resident = residentBlocks(D, *Info, Threads, R.Shared);
  if (!Resident || Resident < Cluster.count())
    return cudaErrorLaunchOutOfResources;
  if (R.IsCooperative && dims(R.Grid).count() > Resident)
    return cudaErrorCooperativeLaunchTooLarge;

  Result.Kernel = Info;
  Result.Grid = dims(R.Grid);
  Result.Block = dims(R.Block);
  Result.Cluster = Cluster;
  Result.DynamicShared = uint32_t(R.Shared);
  Result.IsCooperative = R.IsCooperative;
  Result.MayOverlap = R.MayOverlap;
  Result.Params.assign(Info->ParamBytes, 0);
  for (size_t I = 0; I < Info->Params.size(); ++I) {
    if (!R.Arguments || !R.Arguments[I])
      return cudaErrorInvalidValue;
    std::memcpy(Result.Params.data() + Info->Params[I].Offset, R.Arguments[I],
                Info->Params[I].Size);
  }
  return cudaSuccess;
}

static cudaError_t launch(const void *Function, LaunchRequest R,
                          cudaStream_t Handle) {
  return enter([&](Process &P) {
    R.Kernel = P.findKernel(Function);
    StreamRef S;
    cudaError_t Error = P.resolve(Handle, S);
    if (Error == cudaSuccess)
      Error = R.Kernel ? S.On->Sticky : cudaErrorInvalidDeviceFunction;
    Launch L;
    if (Error == cudaSuccess)
      Error = prepareLaunch(P, *S.On, R, L);
    if (Error == cudaSuccess)
      Error = P.submit(S, std::move(L), cudaGraphNodeTypeKernel);
    if (Error != cudaSuccess)
      P.run().launchFailed(R.Kernel ? R.Kernel->Name.c_str() : nullptr,
                           theDriver().errorName(CUresult(Error)));
    return Error;
  });
}

/// What a launch's attributes ask for.
static cudaError_t readAttributes(const cudaLaunchConfig_t &C,
                                  LaunchRequest &R) {
  for (unsigned I = 0; I < C.numAttrs; ++I) {
    const cudaLaunchAttribute &A = C.attrs[I];
    switch (int(A.id)) {
    case cudaLaunchAttributeClusterDimension:
      R.Cluster = {A.val.clusterDim.x, A.val.clusterDim.y, A.val.clusterDim.z};
      R.HasCluster = true;
      break;
    case cudaLaunchAttributeCooperative:
      R.IsCooperative = A.val.cooperative != 0;
      break;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      R.MayOverlap = A.val.programmaticStreamSerializationAllowed != 0;
      break;
    // Performance only.
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      break;
    default:
      stop(fmt::format("launch attribute {} of cudaLaunchKernelEx is not "
                       "supported",
                       int(A.id)));
    }
  }
  return cudaSuccess;
}

static cudaError_t launchEx(const cudaLaunchConfig_t *C, const void *Function,
                            void **Arguments, bool IsPerThread) {
  if (!C)
    return thisThread().Last = cudaErrorInvalidValue;
  LaunchRequest R{nullptr, C->gridDim, C->blockDim, C->dynamicSmemBytes,
                  Arguments};
  readAttributes(*C, R);
  return launch(Function, R, IsPerThread ? perThread(C->stream) : C->stream);
}

} // namespace crsan::api

using namespace crsan::api;

CRSAN_API cudaError_t cudaLaunchKernel(const void *Function, dim3 Grid,
                                       dim3 Block, void **Arguments,
                                       size_t Shared, cudaStream_t S) {
  return launch(Function, {nullptr, Grid, Block, Shared, Arguments}, S);
}
CRSAN_API cudaError_t cudaLaunchKernel_ptsz(const void *Function, dim3 Grid,
                                            dim3 Block, void **Arguments,
                                            size_t Shared, cudaStream_t S) {
  return launch(Function, {nullptr, Grid, Block, Shared, Arguments},
                perThread(S));
}
CRSAN_API cudaError_t __cudaLaunchKernel(cudaKernel_t Kernel, dim3 Grid,
                                         dim3 Block, void **Arguments,
                                         size_t Shared, cudaStream_t S) {
  return launch(Kernel, {nullptr, Grid, Block, Shared, Arguments}, S);
}
CRSAN_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t Kernel, dim3 Grid,
                                              dim3 Block, void **Arguments,
                                              size_t Shared, cudaStream_t S) {
  return launch(Kernel, {nullptr, Grid, Block, Shared, Arguments},
                perThread(S));
}
CRSAN_API cudaError_t cudaLaunchCooperativeKernel(const void *Function,
                                                  dim3 Grid, dim3 Block,
                                                  void **Arguments,
                                                  size_t Shared,
                                                  cudaStream_t S) {
  LaunchRequest R{nullptr, Grid, Block, Shared, Arguments};
  R.IsCooperative = true;
  return launch(Function, R, S);
}
CRSAN_API cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *Function,
                                                       dim3 Grid, dim3 Block,
                                                       void **Arguments,
                                                       size_t Shared,
                                                       cudaStream_t S) {
  return cudaLaunchCooperativeKernel(Function, Grid, Block, Arguments, Shared,
                                     perThread(S));
}
CRSAN_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *C,
                                          const void *Function,
                                          void **Arguments) {
  return launchEx(C, Function, Arguments, false);
}
CRSAN_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *C,
                                               const void *Function,
                                               void **Arguments) {
  return launchEx(C, Function, Arguments, true);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Runs a body with the kernel and what the machine knows of it.
template <typename Body>
static cudaError_t withKernel(const void *Function, Body B) {
  return enterDevice([&](Process &P) {
    CUkern_st *Kernel = P.findKernel(Function);
    if (!Kernel)
      return cudaErrorInvalidDeviceFunction;
    cudaError_t Error = cudaSuccess;
    const KernelInfo *Info = P.infoOf(*Kernel, P.current(), Error);
    return Info ? B(P, *Kernel, *Info) : Error;
  });
}

CRSAN_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *A,
                                            const void *Function) {
  return withKernel(Function, [&](Process &P, CUkern_st &Kernel,
                                  const KernelInfo &Info) {
    *A = {};
    A->sharedSizeBytes = Info.StaticShared;
    A->localSizeBytes = Info.LocalBytes;
    A->maxThreadsPerBlock = int(Info.MaxThreads);
    A->numRegs = int(Info.Registers);
    // Libraries choose by the PTX what the device code chose when it was
    // compiled.
    A->ptxVersion = int(Kernel.Home->Target);
    A->binaryVersion = int(Architecture);
    A->maxDynamicSharedSizeBytes = int(dynamicLimit(Kernel, Info, P.current()));
    A->preferredShmemCarveout = -1;
    A->nonPortableClusterSizeAllowed = Kernel.NonPortableCluster;
    if (Info.RequiredCluster) {
      A->clusterDimMustBeSet = 1;
      A->requiredClusterWidth = int(Info.RequiredCluster->X);
      A->requiredClusterHeight = int(Info.RequiredCluster->Y);
      A->requiredClusterDepth = int(Info.RequiredCluster->Z);
    }
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaFuncSetAttribute(const void *Function,
                                           cudaFuncAttribute Attribute,
                                           int Value) {
  return withKernel(Function,
                    [&](Process &P, CUkern_st &Kernel, const KernelInfo &Info) {
                      switch (int(Attribute)) {
                      case cudaFuncAttributeMaxDynamicSharedMemorySize:
                        if (Value < 0 || size_t(Value) + Info.StaticShared >
                                             Machine::MaxSharedPerBlock)
                          return cudaErrorInvalidValue;
                        Kernel.MaxDynamicShared[P.current().Ordinal] = Value;
                        return cudaSuccess;
                      case cudaFuncAttributeNonPortableClusterSizeAllowed:
                        Kernel.NonPortableCluster = Value != 0;
                        return cudaSuccess;
                      case cudaFuncAttributePreferredSharedMemoryCarveout:
                      case cudaFuncAttributeClusterSchedulingPolicyPreference:
                        return cudaSuccess;
                      default:
                        return cudaErrorInvalidValue;
                      }
                    });
}

CRSAN_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t Kernel,
                                                      cudaFuncAttribute A,
                                                      int Value, int Ordinal) {
  int Before = thisThread().Device;
  if (Ordinal < 0 || Ordinal >= Process::get().deviceCount())
    return thisThread().Last = cudaErrorInvalidDevice;
  thisThread().Device = Ordinal;
  cudaError_t Error = cudaFuncSetAttribute(Kernel, A, Value);
  thisThread().Device = Before;
  return Error;
}

CRSAN_API cudaError_t cudaFuncSetCacheConfig(const void *Function,
                                             cudaFuncCache) {
  return withKernel(Function, [](Process &, CUkern_st &, const KernelInfo &) {
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaFuncSetSharedMemConfig(const void *Function,
                                                 cudaSharedMemConfig) {
  return cudaFuncSetCacheConfig(Function, cudaFuncCachePreferNone);
}

CRSAN_API cudaError_t cudaFuncGetName(const char **Name, const void *Function) {
  return withKernel(Function,
                    [&](Process &, CUkern_st &Kernel, const KernelInfo &) {
                      *Name = Kernel.Name.c_str();
                      return cudaSuccess;
                    });
}

CRSAN_API cudaError_t cudaFuncGetParamInfo(const void *Function, size_t Index,
                                           size_t *Offset, size_t *Size) {
  return withKernel(Function,
                    [&](Process &, CUkern_st &, const KernelInfo &Info) {
                      if (Index >= Info.Params.size())
                        return cudaErrorInvalidValue;
                      *Offset = Info.Params[Index].Offset;
                      if (Size)
                        *Size = Info.Params[Index].Size;
                      return cudaSuccess;
                    });
}

CRSAN_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *Result,
                                          const void *Function) {
  return withKernel(Function,
                    [&](Process &, CUkern_st &Kernel, const KernelInfo &) {
                      *Result = reinterpret_cast<cudaFunction_t>(&Kernel);
                      return cudaSuccess;
                    });
}

CRSAN_API cudaError_t cudaGetKernel(cudaKernel_t *Result,
                                    const void *Function) {
  return withKernel(Function,
                    [&](Process &, CUkern_st &Kernel, const KernelInfo &) {
                      *Result = &Kernel;
                      return cudaSuccess;
                    });
}

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *Blocks, const void *Function, int Threads, size_t Shared, unsigned) {
  return withKernel(
      Function, [&](Process &P, CUkern_st &, const KernelInfo &Info) {
        if (!Blocks || Threads <= 0)
          return cudaErrorInvalidValue;
        bool Fits = Threads <= int(Info.MaxThreads) &&
                    Shared + Info.StaticShared <= Machine::MaxSharedPerBlock;
        *Blocks = Fits ? int(P.current().M.blocksPerMultiprocessor(
                             Info, uint32_t(Threads), uint32_t(Shared)))
                       : 0;
        return cudaSuccess;
      });
}

CRSAN_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *Blocks, const void *Function, int Threads, size_t Shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      Blocks, Function, Threads, Shared, 0);
}

CRSAN_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(
    size_t *Shared, const void *Function, int Blocks, int Threads) {
  return withKernel(
      Function, [&](Process &, CUkern_st &, const KernelInfo &Info) {
        if (Blocks <= 0 || Threads <= 0 ||
            uint64_t(Blocks) * uint64_t(Threads) >
                Machine::MaxThreadsPerMultiprocessor)
          return cudaErrorInvalidValue;
        constexpr size_t Reserved = 1024; // The system's, of each block.
        size_t Each = Machine::MaxSharedPerMultiprocessor / size_t(Blocks);
        size_t Used = Reserved + Info.StaticShared;
        *Shared = Each > Used ? (Each - Used) / 128 * 128 : 0;
        return cudaSuccess;
      });
}

CRSAN_API cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int *Size, const void *Function, const cudaLaunchConfig_t *) {
  return withKernel(Function,
                    [&](Process &, CUkern_st &Kernel, const KernelInfo &) {
                      *Size = Kernel.NonPortableCluster ? 16 : 8;
                      return cudaSuccess;
                    });
}

CRSAN_API cudaError_t cudaOccupancyMaxActiveClusters(
    int *Clusters, const void *Function, const cudaLaunchConfig_t *C) {
  return withKernel(Function, [&](Process &P, CUkern_st &,
                                  const KernelInfo &Info) {
    LaunchRequest R;
    readAttributes(*C, R);
    uint64_t Threads = uint64_t(C->blockDim.x) * C->blockDim.y * C->blockDim.z;
    uint64_t Size = dims(R.Cluster).count();
    if (!Threads || !Size)
      return cudaErrorInvalidClusterSize;
    *Clusters = int(
        residentBlocks(P.current(), Info, Threads, C->dynamicSmemBytes) / Size);
    return cudaSuccess;
  });
}
