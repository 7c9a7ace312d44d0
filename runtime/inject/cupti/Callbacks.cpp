// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUPTI's callbacks.

#include "cupti/Callbacks.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "cupti/DriverCalls.h"
#include "cupti/LaunchCalls.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace crsan {

// The runtime refuses some launches before the driver hears of them (no code
// for this device, an impossible configuration).
#define CBID(Name) CUPTI_RUNTIME_TRACE_CBID_##Name
/// The launches whose functions the host part wraps (runtime/host/Launch.c).
static constexpr CUpti_runtime_api_trace_cbid WrappedLaunches[] = {
    CBID(cudaLaunchKernel_v7000),
    CBID(cudaLaunchKernel_ptsz_v7000),
    CBID(__cudaLaunchKernel_v13000), // What nvcc 13 makes of <<<>>>.
    CBID(__cudaLaunchKernel_ptsz_v13000),
    CBID(cudaLaunchKernelExC_v11060),
    CBID(cudaLaunchKernelExC_ptsz_v11060),
    CBID(cudaLaunchCooperativeKernel_v9000),
    CBID(cudaLaunchCooperativeKernel_ptsz_v9000),
};
static constexpr CUpti_runtime_api_trace_cbid OtherLaunches[] = {
    CBID(cudaGraphLaunch_v10000),
    CBID(cudaGraphLaunch_ptsz_v10000),
};
#undef CBID

static constexpr CUpti_CallbackIdResource Resources[] = {
    CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
    CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
    CUPTI_CBID_RESOURCE_MODULE_LOADED,
    CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
};

/// Most error codes of the runtime are codes of the driver; some are its own.
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
    forgetRefusedLaunch();
    return;
  }
  const int Error = *static_cast<const int *>(Call.functionReturnValue);
  if (Error != 0)
    launchRefused(S, Call.symbolName, Error);
}

void launchRefused(Session &S, const char *Kernel, int Error) {
  if (!wasLaunchRefused())
    S.launchFailed(Kernel ? Kernel : "a kernel", runtimeErrorName(Error));
  forgetRefusedLaunch();
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
    if (!inOwnCall())
      tellDriverCall(S, Id, *static_cast<const CUpti_CallbackData *>(Data));
    return;
  case CUPTI_CB_DOMAIN_RUNTIME_API:
    return onRuntimeCall(S, *static_cast<const CUpti_CallbackData *>(Data));
  case CUPTI_CB_DOMAIN_RESOURCE:
    return onResource(S, Id, *static_cast<const CUpti_ResourceData *>(Data));
  default:
    return;
  }
}

CUptiResult subscribe(const Cupti &Api, Session &Target, bool AreRefusalsTold) {
  CUpti_SubscriberHandle Handle = nullptr;
  CUptiResult Result = Api.Subscribe(&Handle, onCallback, &Target);
  if (Result != CUPTI_SUCCESS)
    return Result;
  auto Enable = [&Api, Handle](CUpti_CallbackDomain Domain, uint32_t Id) {
    CUptiResult R = Api.EnableCallback(1, Handle, Domain, Id);
    // An older CUPTI does not know the newest calls; nor do its programs.
    if (R != CUPTI_SUCCESS)
      theLog().detail(2, "callback {}/{} is not available: {}", int(Domain), Id,
                      Api.resultText(R));
    return R == CUPTI_SUCCESS;
  };
  const CallsToTell Calls = driverCallsToTell(Api);
  Target.ordering().OnEventsNeeded = [Enable, Later = Calls.Later] {
    return std::all_of(Later.begin(), Later.end(), [&](CUpti_CallbackId Id) {
      return Enable(CUPTI_CB_DOMAIN_DRIVER_API, Id);
    });
  };
  for (CUpti_CallbackId Id : Calls.Always)
    Enable(CUPTI_CB_DOMAIN_DRIVER_API, Id);
  if (!AreRefusalsTold)
    for (CUpti_runtime_api_trace_cbid Id : WrappedLaunches)
      Enable(CUPTI_CB_DOMAIN_RUNTIME_API, Id);
  for (CUpti_runtime_api_trace_cbid Id : OtherLaunches)
    Enable(CUPTI_CB_DOMAIN_RUNTIME_API, Id);
  for (CUpti_CallbackIdResource Id : Resources)
    Enable(CUPTI_CB_DOMAIN_RESOURCE, Id);
  return CUPTI_SUCCESS;
}

} // namespace crsan
