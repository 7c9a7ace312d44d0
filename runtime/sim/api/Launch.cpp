// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels: launches.

#include "Launch.h"

#include "SimulatedRun.h"
#include "common/Driver.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace crsan::api {

static constexpr size_t DefaultShared = 48 * 1024;

Dim3 dims(dim3 D) { return {D.x, D.y, D.z}; }

size_t dynamicLimit(const CUkern_st &Kernel, const KernelInfo &Info,
                    const Device &D) {
  auto Set = Kernel.MaxDynamicShared.find(D.Ordinal);
  size_t Default =
      DefaultShared - std::min<size_t>(DefaultShared, Info.StaticShared);
  if (Set == Kernel.MaxDynamicShared.end())
    return Default;
  return std::max<size_t>(Default, size_t(Set->second));
}

uint64_t residentBlocks(const Device &D, const KernelInfo &Info,
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

cudaError_t readAttributes(const cudaLaunchConfig_t &C, LaunchRequest &R) {
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
