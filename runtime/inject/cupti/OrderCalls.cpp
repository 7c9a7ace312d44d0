//===- OrderCalls.cpp - Driver calls that order launches ------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is neither followed nor on a list is taken for something that may order
// anything, even what was launched before: a newer driver may have calls that
// nobody here has heard of.
//
//===----------------------------------------------------------------------===//

#include "cupti/OrderCalls.h"

#include "common/Driver.h"
#include "cupti/Callbacks.h"
#include "cupti/Cupti.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace crsan {

namespace {
enum class Effect : uint8_t {
  None,   ///< Orders nothing, and is not listened to.
  Apart,  ///< Followed elsewhere: launches, waits for a context.
  Cut,    ///< What was launched is ordered before what will be.
  Lose,   ///< Anything.
  Follow, ///< Followed here, one by one.
};

struct Family {
  std::string_view Prefix;
  Effect What;
};
} // namespace

/// By the beginnings of names, of which the longest counts.
static constexpr Family Families[] = {
    {"cuInit", Effect::None},
    {"cuDriverGet", Effect::None},
    {"cuGet", Effect::None},
    {"cuThreadExchangeStreamCaptureMode", Effect::None},
    {"cuProfiler", Effect::None},
    {"cuLink", Effect::None},
    {"cuLogs", Effect::None},
    {"cuCoredump", Effect::None},
    {"cuTensorMap", Effect::None},
    {"cuOccupancy", Effect::None},
    {"cuPointer", Effect::None},
    {"cuFunc", Effect::None},
    {"cuKernel", Effect::None},
    {"cuParam", Effect::None},
    {"cuDevice", Effect::Cut},
    {"cuDeviceGet", Effect::None},
    {"cuDeviceTotalMem", Effect::None},
    {"cuDeviceComputeCapability", Effect::None},
    {"cuDeviceCanAccessPeer", Effect::None},
    {"cuDevicePrimaryCtxRetain", Effect::None},
    {"cuDevicePrimaryCtxGet", Effect::None},
    {"cuDevicePrimaryCtxSet", Effect::None},
    {"cuCtx", Effect::Cut},
    {"cuCtxGet", Effect::None},
    {"cuCtxSet", Effect::None},
    {"cuCtxPush", Effect::None},
    {"cuCtxPop", Effect::None},
    {"cuCtxCreate", Effect::None},
    {"cuCtxRecordEvent", Effect::Lose},
    {"cuCtxWaitEvent", Effect::Lose},
    {"cuCtxSynchronize", Effect::Apart},
    {"cuModule", Effect::Cut},
    {"cuModuleGet", Effect::None},
    {"cuModuleEnumerate", Effect::None},
    {"cuLibrary", Effect::Cut},
    {"cuLibraryGet", Effect::None},
    {"cuLibraryEnumerate", Effect::None},
    {"cuMem", Effect::Cut},
    {"cu64Mem", Effect::Cut},
    {"cuMemGet", Effect::None},
    {"cuMemHostGet", Effect::None},
    {"cuMemPoolGet", Effect::None},
    {"cuIpc", Effect::Cut},
    {"cuArray", Effect::Cut},
    {"cuArrayGet", Effect::None},
    {"cuMipmapped", Effect::Cut},
    {"cuTex", Effect::Cut},
    {"cuSurf", Effect::Cut},
    {"cuUserObject", Effect::None},
    // A graph as such does nothing yet; "cuGraphics" is something else.
    {"cuGraph", Effect::Cut},
    {"cuGraphLaunch", Effect::Apart},
    {"cuGraphUpload", Effect::Lose},
    {"cuGraphics", Effect::Lose},
    {"cuGraphicsResourceGet", Effect::None},
    {"cuLaunch", Effect::Apart},
    {"cuLaunchHostFunc", Effect::Lose},
    {"cuStreamGet", Effect::None},
    {"cuStreamIsCapturing", Effect::None},
    {"cuStreamSetAttribute", Effect::None},
    {"cuStreamCopyAttributes", Effect::None},
    {"cuEventElapsedTime", Effect::Cut},
};

#define CBID(Name) CUPTI_DRIVER_TRACE_CBID_##Name

/// Those of which parameters are read.
static bool isFollowed(CUpti_CallbackId Id) {
  switch (Id) {
  case CBID(cuStreamCreate):
  case CBID(cuStreamCreateWithPriority):
  case CBID(cuStreamDestroy):
  case CBID(cuStreamDestroy_v2):
  case CBID(cuStreamWaitEvent):
  case CBID(cuStreamWaitEvent_ptsz):
  case CBID(cuStreamSynchronize):
  case CBID(cuStreamSynchronize_ptsz):
  case CBID(cuStreamQuery):
  case CBID(cuStreamQuery_ptsz):
  case CBID(cuEventCreate):
  case CBID(cuEventDestroy):
  case CBID(cuEventDestroy_v2):
  case CBID(cuEventRecord):
  case CBID(cuEventRecord_ptsz):
  case CBID(cuEventSynchronize):
  case CBID(cuEventQuery):
  case CBID(cuMemcpyHtoDAsync_v2):
  case CBID(cuMemcpyHtoDAsync_v2_ptsz):
  case CBID(cuMemcpyDtoHAsync_v2):
  case CBID(cuMemcpyDtoHAsync_v2_ptsz):
  case CBID(cuMemcpyDtoDAsync_v2):
  case CBID(cuMemcpyDtoDAsync_v2_ptsz):
  case CBID(cuMemcpyAsync):
  case CBID(cuMemcpyAsync_ptsz):
  case CBID(cuMemsetD8Async):
  case CBID(cuMemsetD8Async_ptsz):
  case CBID(cuMemsetD32Async):
  case CBID(cuMemsetD32Async_ptsz):
    return true;
  default:
    return false;
  }
}

/// Whether a null stream is the default one of the thread.
static bool isPerThread(CUpti_CallbackId Id) {
  switch (Id) {
  case CBID(cuLaunchKernel_ptsz):
  case CBID(cuLaunchCooperativeKernel_ptsz):
  case CBID(cuLaunchKernelEx_ptsz):
  case CBID(cuStreamWaitEvent_ptsz):
  case CBID(cuStreamSynchronize_ptsz):
  case CBID(cuStreamQuery_ptsz):
  case CBID(cuEventRecord_ptsz):
  case CBID(cuMemcpyHtoDAsync_v2_ptsz):
  case CBID(cuMemcpyDtoHAsync_v2_ptsz):
  case CBID(cuMemcpyDtoDAsync_v2_ptsz):
  case CBID(cuMemcpyAsync_ptsz):
  case CBID(cuMemsetD8Async_ptsz):
  case CBID(cuMemsetD32Async_ptsz):
    return true;
  default:
    return false;
  }
}

static Effect effectOf(CUpti_CallbackId Id, std::string_view Name) {
  if (isFollowed(Id))
    return Effect::Follow;
  const Family *Longest = nullptr;
  for (const Family &F : Families)
    if (Name.starts_with(F.Prefix) &&
        (!Longest || F.Prefix.size() > Longest->Prefix.size()))
      Longest = &F;
  return Longest ? Longest->What : Effect::Lose;
}

/// By number, once orderCalls() has been asked.
static std::array<Effect, 2048> Effects{};

std::vector<CUpti_CallbackId> orderCalls(const Cupti &Api) {
  std::vector<CUpti_CallbackId> Wanted;
  // Without names nobody knows what orders launches, and so none is told.
  if (!Api.GetCallbackName) {
    theDriver().cuStreamWriteValue32 = nullptr;
    return Wanted;
  }
  for (CUpti_CallbackId Id = 1; Id < Effects.size(); ++Id) {
    const char *Name = nullptr;
    if (Api.GetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, Id, &Name) !=
            CUPTI_SUCCESS ||
        !Name || !std::string_view(Name).starts_with("cu"))
      continue;
    Effects[Id] = effectOf(Id, Name);
    if (Effects[Id] != Effect::None && Effects[Id] != Effect::Apart)
      Wanted.push_back(Id);
  }
  return Wanted;
}

template <typename T> static const T &as(const void *Params) {
  return *static_cast<const T *>(Params);
}

static void follow(Session &S, CUpti_CallbackId Id,
                   const CUpti_CallbackData &Call) {
  const void *P = Call.functionParams;
  const bool IsEnter = Call.callbackSite == CUPTI_API_ENTER;
  auto On = [&](CUstream Stream, auto What) {
    What(*S.ordering().of(contextOf(Stream, Call)),
         StreamId::of(Stream, isPerThread(Id)));
  };
  // The handle is gone when it is over.
  if (Id == CBID(cuStreamDestroy) || Id == CBID(cuStreamDestroy_v2)) {
    if (IsEnter)
      On(as<cuStreamDestroy_v2_params>(P).hStream,
         [](StreamOrder &O, StreamId Id) { O.destroyed(Id); });
    return;
  }
  if (IsEnter ||
      *static_cast<const CUresult *>(Call.functionReturnValue) != CUDA_SUCCESS)
    return;
  auto Enqueued = [&](CUstream Stream) {
    On(Stream, [](StreamOrder &O, StreamId Id) { O.enqueued(Id); });
  };
  switch (Id) {
  case CBID(cuStreamCreate):
  case CBID(cuStreamCreateWithPriority): {
    // Both begin alike.
    const auto &Create = as<cuStreamCreate_params>(P);
    const bool IsBlocking = !(Create.Flags & CU_STREAM_NON_BLOCKING);
    return S.ordering()
        .of(Call.context)
        ->created(StreamId::of(*Create.phStream, false), IsBlocking);
  }
  case CBID(cuStreamWaitEvent):
  case CBID(cuStreamWaitEvent_ptsz): {
    const auto &Wait = as<cuStreamWaitEvent_params>(P);
    return S.ordering().streamWaits(contextOf(Wait.hStream, Call),
                                    StreamId::of(Wait.hStream, isPerThread(Id)),
                                    Wait.hEvent);
  }
  case CBID(cuStreamSynchronize):
  case CBID(cuStreamSynchronize_ptsz):
  case CBID(cuStreamQuery):
  case CBID(cuStreamQuery_ptsz):
    return On(as<cuStreamSynchronize_params>(P).hStream,
              [](StreamOrder &O, StreamId Id) { O.streamDone(Id); });
  case CBID(cuEventCreate):
    return S.ordering()
        .of(Call.context)
        ->created(*as<cuEventCreate_params>(P).phEvent);
  case CBID(cuEventDestroy):
  case CBID(cuEventDestroy_v2):
    return S.ordering().eventGone(as<cuEventDestroy_v2_params>(P).hEvent);
  case CBID(cuEventRecord):
  case CBID(cuEventRecord_ptsz): {
    const auto &Record = as<cuEventRecord_params>(P);
    return On(Record.hStream, [&](StreamOrder &O, StreamId Id) {
      O.recorded(Record.hEvent, Id);
    });
  }
  case CBID(cuEventSynchronize):
  case CBID(cuEventQuery):
    return S.ordering().eventDone(as<cuEventSynchronize_params>(P).hEvent);
  case CBID(cuMemcpyHtoDAsync_v2):
  case CBID(cuMemcpyHtoDAsync_v2_ptsz):
    return Enqueued(as<cuMemcpyHtoDAsync_v2_params>(P).hStream);
  case CBID(cuMemcpyDtoHAsync_v2):
  case CBID(cuMemcpyDtoHAsync_v2_ptsz):
    return Enqueued(as<cuMemcpyDtoHAsync_v2_params>(P).hStream);
  case CBID(cuMemcpyDtoDAsync_v2):
  case CBID(cuMemcpyDtoDAsync_v2_ptsz):
    return Enqueued(as<cuMemcpyDtoDAsync_v2_params>(P).hStream);
  case CBID(cuMemcpyAsync):
  case CBID(cuMemcpyAsync_ptsz):
    return Enqueued(as<cuMemcpyAsync_params>(P).hStream);
  case CBID(cuMemsetD8Async):
  case CBID(cuMemsetD8Async_ptsz):
    return Enqueued(as<cuMemsetD8Async_params>(P).hStream);
  case CBID(cuMemsetD32Async):
  case CBID(cuMemsetD32Async_ptsz):
    return Enqueued(as<cuMemsetD32Async_params>(P).hStream);
  default:
    return;
  }
}

void onOrderCall(Session &S, CUpti_CallbackId Id,
                 const CUpti_CallbackData &Call) {
  switch (Id < Effects.size() ? Effects[Id] : Effect::Lose) {
  case Effect::None:
  case Effect::Apart:
    return;
  case Effect::Follow:
    return follow(S, Id, Call);
  case Effect::Cut:
    return S.ordering().cut();
  case Effect::Lose:
    return Call.callbackSite == CUPTI_API_ENTER ? S.ordering().losing()
                                                : S.ordering().lost();
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Whether it begins when all that its stream was given before has ended, and
/// nothing goes on before it has ended itself.
static bool isPlain(const CUlaunchConfig &Config) {
  return std::all_of(
      Config.attrs, Config.attrs + Config.numAttrs,
      [](const CUlaunchAttribute &A) {
        switch (int(A.id)) {
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
          return true;
        default:
          return false;
        }
      });
}

/// The bytes of a kernel's arguments. False: they are not known.
static bool readArguments(CUfunction Function, void **Params, void **Extra,
                          std::vector<uint8_t> &Bytes) {
  auto Add = [&](const void *From, size_t Size) {
    const auto *First = static_cast<const uint8_t *>(From);
    Bytes.insert(Bytes.end(), First, First + Size);
  };
  if (!Params) {
    const void *Buffer = nullptr;
    size_t Size = 0;
    for (void **At = Extra; At && *At != CU_LAUNCH_PARAM_END; At += 2) {
      if (*At == CU_LAUNCH_PARAM_BUFFER_POINTER)
        Buffer = At[1];
      else if (*At == CU_LAUNCH_PARAM_BUFFER_SIZE)
        Size = *static_cast<size_t *>(At[1]);
      else
        return false;
    }
    if (Buffer)
      Add(Buffer, Size);
    return true;
  }
  Driver &D = theDriver();
  if (!D.cuFuncGetParamInfo)
    return false;
  for (size_t I = 0;; ++I) {
    size_t Offset = 0, Size = 0;
    CUresult Result = D.cuFuncGetParamInfo(Function, I, &Offset, &Size);
    // What is no function is a kernel of a library.
    if (Result == CUDA_ERROR_INVALID_HANDLE && D.cuKernelGetParamInfo)
      Result = D.cuKernelGetParamInfo(reinterpret_cast<CUkernel>(Function), I,
                                      &Offset, &Size);
    // There are no more.
    if (Result == CUDA_ERROR_INVALID_VALUE)
      return true;
    if (Result != CUDA_SUCCESS || !Params[I])
      return false;
    Add(Params[I], Size);
  }
}

std::optional<OrderedLaunch> orderedLaunch(Session &S, CUpti_CallbackId Id,
                                           const CUpti_CallbackData &Call,
                                           CUcontext Ctx) {
  const void *P = Call.functionParams;
  const bool OfThread = isPerThread(Id);
  const bool IsEnter = Call.callbackSite == CUPTI_API_ENTER;
  auto Make = [&](const auto &Shape, CUfunction Function, void **Params,
                  void **Extra) {
    OrderedLaunch L{StreamId::of(Shape.hStream, OfThread),
                    OfThread && !Shape.hStream ? CU_STREAM_PER_THREAD
                                               : Shape.hStream,
                    Call.symbolName,
                    {Shape.gridDimX, Shape.gridDimY, Shape.gridDimZ},
                    {Shape.blockDimX, Shape.blockDimY, Shape.blockDimZ}};
    if (IsEnter && S.ordering().of(Ctx)->isFollowing()) {
      OwnCalls Own(Ctx);
      L.MayTellHost =
          !Own.ok() || !readArguments(Function, Params, Extra, L.Arguments);
    }
    return L;
  };
  switch (Id) {
  case CBID(cuLaunchKernel):
  case CBID(cuLaunchKernel_ptsz): {
    const auto &Launch = as<cuLaunchKernel_params>(P);
    return Make(Launch, Launch.f, Launch.kernelParams, Launch.extra);
  }
  case CBID(cuLaunchCooperativeKernel):
  case CBID(cuLaunchCooperativeKernel_ptsz): {
    const auto &Launch = as<cuLaunchCooperativeKernel_params>(P);
    return Make(Launch, Launch.f, Launch.kernelParams, nullptr);
  }
  case CBID(cuLaunchKernelEx):
  case CBID(cuLaunchKernelEx_ptsz): {
    const auto &Launch = as<cuLaunchKernelEx_params>(P);
    if (!Launch.config)
      return std::nullopt;
    OrderedLaunch L =
        Make(*Launch.config, Launch.f, Launch.kernelParams, Launch.extra);
    L.IsPlain = isPlain(*Launch.config);
    return L;
  }
  default:
    return std::nullopt;
  }
}
#undef CBID

} // namespace crsan
