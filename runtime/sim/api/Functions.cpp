// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels: attributes, occupancy.

#include "Launch.h"

using namespace crsan::api;

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
