// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that launch kernels.

#include "cupti/LaunchCalls.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "crsan/abi/Names.h"
#include "cupti/StreamCalls.h"
#include "order/ArgumentHash.h"
#include "session/Session.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace crsan {

static thread_local bool WasRefused = false;

bool wasLaunchRefused() { return WasRefused; }

void forgetRefusedLaunch() { WasRefused = false; }

//===----------------------------------------------------------------------===//
// What is launched
//===----------------------------------------------------------------------===//

namespace {
struct LaunchCall {
  CUcontext Ctx = nullptr;
  CUstream Stream = nullptr;
  bool HasStream = true;        ///< Else it is not known.
  const char *Kernel = nullptr; ///< Null: a graph.
  std::optional<LaunchShape> Shape;
  std::optional<OrderedLaunch> Ordered;
  const CUfunction *Function = nullptr; ///< The driver's parameter.
  bool IsTwin = false; ///< At the exit: the native twin was launched.
};
} // namespace

/// The kernel that the program launches (mangled), also at the exit of a call
/// that has launched its native twin. Null: it has no name.
static const char *kernelName(const DriverCall &C) {
  const char *Name = C.Data.symbolName;
  return Name ? abi::nameOfTwinned(Name).data() : nullptr;
}

/// cuLaunchKernel's parameters, or a CUlaunchConfig: the same names in both.
template <typename Dimensions>
static LaunchShape shapeFrom(CUfunction Function, const Dimensions &D) {
  return {.Function = Function,
          .Blocks = uint64_t(D.gridDimX) * D.gridDimY * D.gridDimZ,
          .Threads = int(D.blockDimX * D.blockDimY * D.blockDimZ),
          .DynamicSharedBytes = D.sharedMemBytes};
}

static bool has(const CUlaunchConfig &Config, CUlaunchAttributeID Attribute) {
  return std::any_of(
      Config.attrs, Config.attrs + Config.numAttrs,
      [=](const CUlaunchAttribute &A) { return A.id == Attribute; });
}

/// Whether the grid begins when all earlier work of its stream has ended, and
/// later work of the stream begins when the grid has ended.
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

/// The sizes of a kernel's parameters, as the driver says; none: they are not
/// known.
static std::optional<std::vector<size_t>> askSizes(CUcontext Ctx,
                                                   CUfunction Function) {
  Driver &D = theDriver();
  OwnCalls Own(Ctx);
  if (!Own.ok() || !D.cuFuncGetParamInfo)
    return std::nullopt;
  std::vector<size_t> All;
  for (;;) {
    size_t Offset = 0, Size = 0;
    CUresult Result =
        D.cuFuncGetParamInfo(Function, All.size(), &Offset, &Size);
    // A handle that is no CUfunction is a CUkernel.
    if (Result == CUDA_ERROR_INVALID_HANDLE && D.cuKernelGetParamInfo)
      Result = D.cuKernelGetParamInfo(reinterpret_cast<CUkernel>(Function),
                                      All.size(), &Offset, &Size);
    if (Result == CUDA_ERROR_INVALID_VALUE) // There are no more.
      return All;
    if (Result != CUDA_SUCCESS)
      return std::nullopt;
    All.push_back(Size);
  }
}

/// The same. What the driver has said is kept, since a program may launch a
/// kernel every few microseconds.
static const std::vector<size_t> *
parameterSizes(const Session &S, CUcontext Ctx, CUfunction Function) {
  static thread_local std::unordered_map<CUfunction, std::vector<size_t>> Known;
  static thread_local uint64_t KnownSince = 0;
  if (const uint64_t Now = S.handlesReused();
      std::exchange(KnownSince, Now) != Now)
    Known.clear();
  auto Found = Known.find(Function);
  if (Found == Known.end())
    if (std::optional<std::vector<size_t>> Sizes = askSizes(Ctx, Function))
      Found = Known.emplace(Function, std::move(*Sizes)).first;
  return Found != Known.end() ? &Found->second : nullptr;
}

/// The bytes of a kernel's arguments, and their hash if it is known. False:
/// they are not known.
static bool readArguments(const Session &S, CUcontext Ctx, CUfunction Function,
                          void **Params, void **Extra, OrderedLaunch &L) {
  std::vector<uint8_t> &Bytes = L.Arguments;
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
  const std::vector<size_t> *Sizes = parameterSizes(S, Ctx, Function);
  if (!Sizes)
    return false;
  ArgumentHash Hash;
  for (size_t I = 0; I < Sizes->size(); ++I) {
    if (!Params[I])
      return false;
    Add(Params[I], (*Sizes)[I]);
    Hash.add(Params[I], (*Sizes)[I]);
  }
  L.ArgumentHash = Hash.value();
  return true;
}

template <typename Dimensions>
static LaunchCall makeLaunch(const DriverCall &C, const Dimensions &D,
                             const CUfunction &Function, void **Params,
                             void **Extra) {
  LaunchCall L;
  L.Function = &Function;
  if (!C.isEnter() && C.kept()) {
    L.IsTwin = true;
    replace(Function, reinterpret_cast<CUfunction>(C.kept()));
  }
  L.Ctx = C.contextOf(D.hStream);
  L.Stream = D.hStream;
  const char *Name = kernelName(C);
  L.Kernel = Name ? Name : "?";
  L.Shape = shapeFrom(Function, D);
  L.Ordered = OrderedLaunch{C.idOf(D.hStream),
                            C.handleOf(D.hStream),
                            Name,
                            {D.gridDimX, D.gridDimY, D.gridDimZ},
                            {D.blockDimX, D.blockDimY, D.blockDimZ}};
  if (C.isEnter())
    L.Ordered->MayTellHost =
        !C.S.ordering().needsArguments(L.Ctx) ||
        !readArguments(C.S, L.Ctx, Function, Params, Extra, *L.Ordered);
  return L;
}

//===----------------------------------------------------------------------===//
// Telling the session
//===----------------------------------------------------------------------===//

/// Has the driver launch the kernel's native twin, if this launch is left to
/// it.
static void chooseTwin(const DriverCall &C, const LaunchCall &L) {
  C.kept() = 0;
  if (!L.Function || !L.Shape)
    return;
  const std::string Kernel = L.Kernel;
  if (!C.S.leavesToTwin(L.Ctx, Kernel))
    return;
  if (const CUfunction Twin =
          C.S.findTwin(L.Ctx, Kernel, *L.Shape, C.handleOf(L.Stream))) {
    C.kept() = reinterpret_cast<uintptr_t>(*L.Function);
    replace(*L.Function, Twin);
  }
}

static void tell(const DriverCall &C, const LaunchCall &L) {
  if (C.isEnter() && L.HasStream)
    given(C, L.Stream, L.Kernel);
  else if (C.isEnter())
    givenAnywhere(C);
  if (C.isEnter()) {
    forgetRefusedLaunch();
    C.S.launching(L.Ctx, L.Ctx == C.Data.context ? C.Data.contextUid : 0,
                  L.Ordered, C.handleOf(L.Stream));
    return chooseTwin(C, L);
  }
  C.S.launchIsOver(L.Ctx, L.Ordered);
  const CUresult Result = C.result();
  if (Result == CUDA_SUCCESS) {
    theLog().detail(3, "launch of {}", L.Kernel ? L.Kernel : "a graph");
    return C.S.launched(L.Ctx, L.Kernel, L.Shape, L.IsTwin);
  }
  WasRefused = true;
  C.S.synchronised(L.Ctx, Result);
  C.S.launchFailed(L.Kernel, theDriver().errorName(Result));
}

void kernelLaunch(const DriverCall &C, const cuLaunchKernel_params &Launch) {
  tell(C, makeLaunch(C, Launch, Launch.f, Launch.kernelParams, Launch.extra));
}

void kernelLaunch(const DriverCall &C,
                  const cuLaunchCooperativeKernel_params &Launch) {
  LaunchCall L = makeLaunch(C, Launch, Launch.f, Launch.kernelParams, nullptr);
  L.Shape->IsTogether = true;
  tell(C, L);
}

void kernelLaunch(const DriverCall &C, const cuLaunchKernelEx_params &Launch) {
  if (!Launch.config)
    return oldLaunch(C);
  LaunchCall L = makeLaunch(C, *Launch.config, Launch.f, Launch.kernelParams,
                            Launch.extra);
  L.Ordered->IsPlain = isPlain(*Launch.config);
  L.Shape->IsTogether = has(*Launch.config, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  // The blocks of a cluster are placed together.
  if (has(*Launch.config, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION))
    L.Shape = std::nullopt;
  tell(C, L);
}

void oldLaunch(const DriverCall &C) {
  LaunchCall L;
  L.Ctx = C.Data.context;
  L.HasStream = false;
  L.Kernel = C.Data.symbolName ? C.Data.symbolName : "?";
  tell(C, L);
}

void graphLaunch(const DriverCall &C, CUstream Stream) {
  LaunchCall L;
  L.Ctx = C.contextOf(Stream);
  L.Stream = Stream;
  tell(C, L);
}

} // namespace crsan
