//===- Callbacks.cpp - CUPTI's callbacks -> events ------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupti/Callbacks.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "cupti/MemoryCalls.h"
#include "cupti/OrderCalls.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace crsan {

namespace {

/// What a driver call means to us.
enum class Role : uint8_t {
  None,
  LibraryLoad,
  LibraryFile,
  ModuleLoad,
  ModuleFile,
  LibraryUnload,
  ModuleUnload,
  Launch,
  LaunchEx,  ///< The stream is in a CUlaunchConfig.
  LaunchOld, ///< Without a stream, or with one that is not worth finding.
  GraphLaunch,
  Sync,
  ContextSync, ///< All work of a context.
  Memory,      ///< See MemoryCalls.cpp.
  ContextEnd,
  PrimaryEnd,
};

struct Interest {
  CUpti_driver_api_trace_cbid Id;
  Role What;
};

#define CBID(Name) CUPTI_DRIVER_TRACE_CBID_##Name
constexpr Interest Interests[] = {
    {CBID(cuLibraryLoadData), Role::LibraryLoad},
    {CBID(cuLibraryLoadFromFile), Role::LibraryFile},
    {CBID(cuModuleLoad), Role::ModuleFile},
    {CBID(cuModuleLoadData), Role::ModuleLoad},
    {CBID(cuModuleLoadDataEx), Role::ModuleLoad},
    {CBID(cuModuleLoadFatBinary), Role::ModuleLoad},
    {CBID(cuLibraryUnload), Role::LibraryUnload},
    {CBID(cuModuleUnload), Role::ModuleUnload},
    {CBID(cuLaunchKernel), Role::Launch},
    {CBID(cuLaunchKernel_ptsz), Role::Launch},
    {CBID(cuLaunchCooperativeKernel), Role::Launch},
    {CBID(cuLaunchCooperativeKernel_ptsz), Role::Launch},
    {CBID(cuLaunchKernelEx), Role::LaunchEx},
    {CBID(cuLaunchKernelEx_ptsz), Role::LaunchEx},
    {CBID(cuLaunch), Role::LaunchOld},
    {CBID(cuLaunchGrid), Role::LaunchOld},
    {CBID(cuLaunchGridAsync), Role::LaunchOld},
    {CBID(cuLaunchCooperativeKernelMultiDevice), Role::LaunchOld},
    {CBID(cuGraphLaunch), Role::GraphLaunch},
    {CBID(cuGraphLaunch_ptsz), Role::GraphLaunch},
    // Where a kernel's failure comes to light.
    {CBID(cuCtxSynchronize), Role::ContextSync},
    {CBID(cuCtxSynchronize_v2), Role::ContextSync},
    {CBID(cuStreamSynchronize), Role::Sync},
    {CBID(cuStreamSynchronize_ptsz), Role::Sync},
    {CBID(cuEventSynchronize), Role::Sync},
    {CBID(cuMemcpy), Role::Sync},
    {CBID(cuMemcpy_ptds), Role::Sync},
    {CBID(cuMemcpyHtoD_v2), Role::Sync},
    {CBID(cuMemcpyHtoD_v2_ptds), Role::Sync},
    {CBID(cuMemcpyDtoH_v2), Role::Sync},
    {CBID(cuMemcpyDtoH_v2_ptds), Role::Sync},
    {CBID(cuMemcpyDtoD_v2), Role::Sync},
    {CBID(cuMemcpyDtoD_v2_ptds), Role::Sync},
    {CBID(cuMemcpyDtoHAsync_v2), Role::Sync},
    {CBID(cuMemcpyDtoHAsync_v2_ptsz), Role::Sync},
    {CBID(cuMemcpyAsync), Role::Sync},
    {CBID(cuMemcpyAsync_ptsz), Role::Sync},
    // Where findings have to be taken before they are gone.
    {CBID(cuCtxDestroy), Role::ContextEnd},
    {CBID(cuCtxDestroy_v2), Role::ContextEnd},
    {CBID(cuDevicePrimaryCtxRelease), Role::PrimaryEnd},
    {CBID(cuDevicePrimaryCtxRelease_v2), Role::PrimaryEnd},
    {CBID(cuDevicePrimaryCtxReset), Role::PrimaryEnd},
    {CBID(cuDevicePrimaryCtxReset_v2), Role::PrimaryEnd},
};
#undef CBID

#define CBID(Name) CUPTI_RUNTIME_TRACE_CBID_##Name
/// The runtime refuses some launches before the driver hears of them (no code
/// for this device, an impossible configuration).
constexpr CUpti_runtime_api_trace_cbid RuntimeLaunches[] = {
    CBID(cudaLaunchKernel_v7000),
    CBID(cudaLaunchKernel_ptsz_v7000),
    CBID(cudaLaunchKernelExC_v11060),
    CBID(cudaLaunchKernelExC_ptsz_v11060),
    CBID(cudaLaunchCooperativeKernel_v9000),
    CBID(cudaLaunchCooperativeKernel_ptsz_v9000),
    CBID(cudaGraphLaunch_v10000),
    CBID(cudaGraphLaunch_ptsz_v10000),
};
#undef CBID

constexpr CUpti_CallbackIdResource Resources[] = {
    CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
    CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
    CUPTI_CBID_RESOURCE_MODULE_LOADED,
    CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
};

const auto Roles = [] {
  std::array<Role, 1024> Table{};
  for (const Interest &I : Interests)
    Table[I.Id] = I.What;
  for (CUpti_driver_api_trace_cbid Id : memoryCalls())
    Table[Id] = Role::Memory;
  return Table;
}();

} // namespace

/// A launch failed in the driver, and was said, during this thread's current
/// call of the runtime.
static thread_local bool DriverRefused = false;

CUcontext contextOf(CUstream Stream, const CUpti_CallbackData &Call) {
  Driver &D = theDriver();
  bool IsSpecial =
      !Stream || Stream == CU_STREAM_LEGACY || Stream == CU_STREAM_PER_THREAD;
  CUcontext Ctx = nullptr;
  if (IsSpecial || !D.cuStreamGetCtx ||
      D.cuStreamGetCtx(Stream, &Ctx) != CUDA_SUCCESS || !Ctx)
    return Call.context;
  return Ctx;
}

static CUstream streamOf(Role What, const void *Params) {
  switch (What) {
  case Role::Launch:
    // The cooperative and per-thread forms begin alike.
    return static_cast<const cuLaunchKernel_params *>(Params)->hStream;
  case Role::LaunchEx: {
    const auto *Config =
        static_cast<const cuLaunchKernelEx_params *>(Params)->config;
    return Config ? Config->hStream : nullptr;
  }
  case Role::GraphLaunch:
    return static_cast<const cuGraphLaunch_params *>(Params)->hStream;
  default:
    return nullptr;
  }
}

/// cuLaunchKernel's parameters, or a CUlaunchConfig: the same names in both.
template <typename Dimensions>
static LaunchShape shapeFrom(CUfunction Function, const Dimensions &D) {
  return {.Function = Function,
          .Blocks = uint64_t(D.gridDimX) * D.gridDimY * D.gridDimZ,
          .Threads = int(D.blockDimX * D.blockDimY * D.blockDimZ),
          .DynamicSharedBytes = D.sharedMemBytes};
}

static std::optional<LaunchShape> shapeOf(Role What, const void *Params) {
  switch (What) {
  case Role::Launch: {
    const auto &Launch = *static_cast<const cuLaunchKernel_params *>(Params);
    return shapeFrom(Launch.f, Launch);
  }
  case Role::LaunchEx: {
    const auto &Launch = *static_cast<const cuLaunchKernelEx_params *>(Params);
    if (!Launch.config)
      return std::nullopt;
    const CUlaunchConfig &Config = *Launch.config;
    for (unsigned I = 0; I < Config.numAttrs; ++I)
      if (Config.attrs[I].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        return std::nullopt;
    return shapeFrom(Launch.f, Config);
  }
  default:
    return std::nullopt;
  }
}

static void onLaunch(Session &S, Role What, CUpti_CallbackId Id,
                     const CUpti_CallbackData &Call) {
  CUcontext Ctx = contextOf(streamOf(What, Call.functionParams), Call);
  std::optional<OrderedLaunch> Ordered = orderedLaunch(S, Id, Call, Ctx);
  if (Call.callbackSite == CUPTI_API_ENTER)
    return S.launching(Ctx, Ctx == Call.context ? Call.contextUid : 0, Ordered);
  S.launchIsOver(Ctx, Ordered);
  const char *Kernel = What == Role::GraphLaunch
                           ? nullptr
                           : (Call.symbolName ? Call.symbolName : "?");
  auto Result = *static_cast<const CUresult *>(Call.functionReturnValue);
  theLog().detail(3, "launch of {}: {}", Kernel ? Kernel : "a graph",
                  theDriver().errorName(Result));
  if (Result == CUDA_SUCCESS)
    return S.launched(Ctx, Kernel, shapeOf(What, Call.functionParams));
  DriverRefused = true;
  S.synchronised(Ctx, Result);
  S.launchFailed(Kernel, theDriver().errorName(Result));
}

static void onLoad(Session &S, Role What, const CUpti_CallbackData &Call) {
  if (Call.callbackSite != CUPTI_API_EXIT)
    return;
  auto Result = *static_cast<const CUresult *>(Call.functionReturnValue);
  theLog().detail(2, "{}: {}, context {} (uid {})", Call.functionName,
                  theDriver().errorName(Result),
                  static_cast<void *>(Call.context), Call.contextUid);
  if (Result != CUDA_SUCCESS)
    return;
  // All forms of a call begin with the place for the handle and what is loaded,
  // which is a name for those that read a file.
  const void *P = Call.functionParams;
  if (What == Role::LibraryLoad || What == Role::LibraryFile) {
    const auto *Params = static_cast<const cuLibraryLoadData_params *>(P);
    S.codeLoaded(*Params->library, nullptr,
                 What == Role::LibraryLoad ? Params->code : nullptr,
                 Call.context, Call.contextUid);
  } else {
    const auto *Params = static_cast<const cuModuleLoadData_params *>(P);
    S.codeLoaded(nullptr, *Params->module,
                 What == Role::ModuleLoad ? Params->image : nullptr,
                 Call.context, Call.contextUid);
  }
}

static void onUnload(Session &S, Role What, const CUpti_CallbackData &Call) {
  if (Call.callbackSite != CUPTI_API_ENTER)
    return;
  theLog().detail(2, "{}", Call.functionName);
  if (What == Role::LibraryUnload)
    S.codeUnloading(
        static_cast<const cuLibraryUnload_params *>(Call.functionParams)
            ->library,
        nullptr);
  else
    S.codeUnloading(
        nullptr,
        static_cast<const cuModuleUnload_params *>(Call.functionParams)->hmod);
}

static void onSync(Session &S, const CUpti_CallbackData &Call) {
  if (Call.callbackSite == CUPTI_API_EXIT)
    S.synchronised(Call.context,
                   *static_cast<const CUresult *>(Call.functionReturnValue));
}

static void onContextSync(Session &S, CUpti_CallbackId Id,
                          const CUpti_CallbackData &Call) {
  CUcontext Ctx = Call.context;
  if (Id == CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2)
    Ctx = static_cast<const cuCtxSynchronize_v2_params *>(Call.functionParams)
              ->ctx;
  if (Call.callbackSite == CUPTI_API_ENTER) {
    *Call.correlationData = S.ordering().awaitingIdle(Ctx);
    return;
  }
  auto Result = *static_cast<const CUresult *>(Call.functionReturnValue);
  S.synchronised(Ctx, Result);
  if (Result == CUDA_SUCCESS)
    S.becameIdle(Ctx, *Call.correlationData);
}

static void onMemory(Session &S, CUpti_CallbackId Id,
                     const CUpti_CallbackData &Call) {
  onMemoryCall(S, Id, Call,
               contextOf(memoryStreamOf(Id, Call.functionParams), Call));
  // Where a kernel's failure comes to light, too.
  if (Id == CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2)
    onSync(S, Call);
}

static void onContextEnd(Session &S, Role What,
                         const CUpti_CallbackData &Call) {
  theLog().detail(2, "{} {}", Call.functionName,
                  Call.callbackSite == CUPTI_API_ENTER ? "enter" : "exit");
  bool IsEnter = Call.callbackSite == CUPTI_API_ENTER;
  if (What == Role::ContextEnd) {
    CUcontext Ctx =
        static_cast<const cuCtxDestroy_params *>(Call.functionParams)->ctx;
    if (IsEnter)
      S.contextEnding(Ctx);
    else if (*static_cast<const CUresult *>(Call.functionReturnValue) ==
             CUDA_SUCCESS)
      S.contextGone(Ctx);
  } else if (IsEnter) {
    // Whether the context really goes is told by CONTEXT_DESTROY_STARTING.
    S.deviceEnding(
        static_cast<const cuDevicePrimaryCtxReset_params *>(Call.functionParams)
            ->dev);
  }
}

static void onDriverCall(Session &S, CUpti_CallbackId Id,
                         const CUpti_CallbackData &Call) {
  if (inOwnCall())
    return;
  onOrderCall(S, Id, Call);
  if (Id >= Roles.size())
    return;
  switch (Role What = Roles[Id]) {
  case Role::None:
    return;
  case Role::LibraryLoad:
  case Role::LibraryFile:
  case Role::ModuleLoad:
  case Role::ModuleFile:
    return onLoad(S, What, Call);
  case Role::LibraryUnload:
  case Role::ModuleUnload:
    return onUnload(S, What, Call);
  case Role::Launch:
  case Role::LaunchEx:
  case Role::LaunchOld:
  case Role::GraphLaunch:
    return onLaunch(S, What, Id, Call);
  case Role::Sync:
    return onSync(S, Call);
  case Role::ContextSync:
    return onContextSync(S, Id, Call);
  case Role::Memory:
    return onMemory(S, Id, Call);
  case Role::ContextEnd:
  case Role::PrimaryEnd:
    return onContextEnd(S, What, Call);
  }
}

/// The runtime's codes are the driver's, but for those of its own.
static std::string runtimeErrorName(int Error) {
  switch (Error) {
  case 9:
    return "cudaErrorInvalidConfiguration";
  case 52:
    return "cudaErrorMissingConfiguration";
  case 98:
    return "cudaErrorInvalidDeviceFunction";
  default:
    return theDriver().errorName(CUresult(Error));
  }
}

static void onRuntimeCall(Session &S, const CUpti_CallbackData &Call) {
  if (Call.callbackSite == CUPTI_API_ENTER) {
    DriverRefused = false;
    return;
  }
  int Error = *static_cast<const int *>(Call.functionReturnValue);
  if (Error != 0 && !DriverRefused)
    S.launchFailed(Call.symbolName ? Call.symbolName : "a kernel",
                   runtimeErrorName(Error));
}

/// These may come while the driver holds its locks: nothing here calls it.
static void onResource(Session &S, CUpti_CallbackId Id,
                       const CUpti_ResourceData &Resource) {
  switch (Id) {
  case CUPTI_CBID_RESOURCE_MODULE_LOADED: {
    const auto *Module = static_cast<const CUpti_ModuleResourceData *>(
        Resource.resourceDescriptor);
    theLog().detail(2, "MODULE_LOADED: id {}, {} bytes, context {}",
                    Module ? Module->moduleId : 0,
                    Module ? Module->cubinSize : 0,
                    static_cast<void *>(Resource.context));
    if (Module && Module->pCubin)
      S.imageShown({reinterpret_cast<const uint8_t *>(Module->pCubin),
                    Module->cubinSize});
    return;
  }
  case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
    theLog().detail(2, "CONTEXT_DESTROY_STARTING: {}",
                    static_cast<void *>(Resource.context));
    return S.contextGone(Resource.context);
  default:
    theLog().detail(2, "resource callback {}", Id);
    return;
  }
}

static void CUPTIAPI onCallback(void *User, CUpti_CallbackDomain Domain,
                                CUpti_CallbackId Id, const void *Data) {
  auto &S = *static_cast<Session *>(User);
  switch (Domain) {
  case CUPTI_CB_DOMAIN_DRIVER_API:
    return onDriverCall(S, Id, *static_cast<const CUpti_CallbackData *>(Data));
  case CUPTI_CB_DOMAIN_RUNTIME_API:
    return onRuntimeCall(S, *static_cast<const CUpti_CallbackData *>(Data));
  case CUPTI_CB_DOMAIN_RESOURCE:
    return onResource(S, Id, *static_cast<const CUpti_ResourceData *>(Data));
  default:
    return;
  }
}

CUptiResult subscribe(const Cupti &Api, Session &Target) {
  CUpti_SubscriberHandle Handle = nullptr;
  CUptiResult Result = Api.Subscribe(&Handle, onCallback, &Target);
  if (Result != CUPTI_SUCCESS)
    return Result;
  auto Enable = [&](CUpti_CallbackDomain Domain, uint32_t Id) {
    CUptiResult R = Api.EnableCallback(1, Handle, Domain, Id);
    // An older CUPTI does not know the newest calls; nor do its programs.
    if (R != CUPTI_SUCCESS)
      theLog().detail(2, "callback {}/{} is not available: {}", int(Domain), Id,
                      Api.resultText(R));
  };
  for (const Interest &I : Interests)
    Enable(CUPTI_CB_DOMAIN_DRIVER_API, I.Id);
  for (CUpti_driver_api_trace_cbid Id : memoryCalls())
    Enable(CUPTI_CB_DOMAIN_DRIVER_API, Id);
  for (CUpti_CallbackId Id : orderCalls(Api))
    Enable(CUPTI_CB_DOMAIN_DRIVER_API, Id);
  for (CUpti_runtime_api_trace_cbid Id : RuntimeLaunches)
    Enable(CUPTI_CB_DOMAIN_RUNTIME_API, Id);
  for (CUpti_CallbackIdResource Id : Resources)
    Enable(CUPTI_CB_DOMAIN_RESOURCE, Id);
  return CUPTI_SUCCESS;
}

} // namespace crsan
