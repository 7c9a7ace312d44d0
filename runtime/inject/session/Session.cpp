// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run of a program, from cuInit to its end.

#include "session/Session.h"

#include "Report/Demangle.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "host/HostChecks.h"
#include "image/Fatbin.h"
#include "rewrite/CheckedImage.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace crsan {

//===----------------------------------------------------------------------===//
// Code and contexts
//===----------------------------------------------------------------------===//

template <typename Bytes> void Session::addImage(Bytes Image) {
  bool IsFirst;
  {
    std::lock_guard Lock(Data);
    bool SawBefore = Code.sawInstrumented();
    IsFirst = Code.addImage(Image) && !SawBefore;
  }
  if (IsFirst && OnFirstInstrumented)
    OnFirstInstrumented();
}

/// The architectures of all GPUs that the program sees, once each.
static const std::vector<unsigned> &architectures() {
  static const std::vector<unsigned> All = [] {
    std::vector<unsigned> Found;
    const auto Get = theDriver().cuDeviceGetAttribute;
    int Major, Minor;
    // A device is its number; the first number that is none ends the list.
    for (CUdevice D = 0;
         Get(&Major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, D) ==
             CUDA_SUCCESS &&
         Get(&Minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, D) ==
             CUDA_SUCCESS;
         ++D)
      Found.push_back(unsigned(Major * 10 + Minor));
    std::ranges::sort(Found);
    Found.erase(std::unique(Found.begin(), Found.end()), Found.end());
    return Found;
  }();
  return All;
}

std::string Session::codeLoading(const void *Image, const std::string &Name,
                                 std::vector<std::string> DriverOptions) {
  std::vector<std::string> Lines;
  std::string WithChecks =
      imageWithChecks(Image,
                      {.Mode = Options.detector,
                       .Name = Name,
                       .GPUs = architectures(),
                       .DriverOptions = std::move(DriverOptions)},
                      Lines);
  for (std::string &Line : Lines)
    note(std::move(Line));
  return WithChecks;
}

void Session::imageShown(std::span<const uint8_t> Cubin) { addImage(Cubin); }

void Session::imageShown(std::span<const ImageObject> Objects) {
  addImage(Objects);
}

void Session::codeLoaded(CUlibrary Library, CUmodule Module, const void *Bytes,
                         CUcontext Ctx, uint32_t Uid) {
  uint64_t Serial;
  {
    std::lock_guard Lock(Data);
    LoadedCode New;
    New.Library = Library;
    New.Module = Module;
    New.Owner = Ctx;
    Serial = Code.addCode(New);
  }
  // Before the first context there is nothing to configure yet.
  if (!Ctx)
    return;
  configure(Ctx, Uid);

  // CUPTI showed no image: look for it ourselves.
  std::span<const uint8_t> Cubin;
  {
    std::lock_guard Lock(Data);
    std::shared_ptr<Context> C = findContext(Ctx);
    if (C && Code.lacksTables(Serial))
      Cubin = findCubin(Bytes, C->ComputeMajor, C->ComputeMinor);
  }
  if (Cubin.empty())
    return;
  theLog().detail(2, "code {}: taking the image from the program, {} bytes",
                  Serial, Cubin.size());
  imageShown(Cubin);
  configure(Ctx, Uid);
}

std::shared_ptr<Context> Session::findContext(CUcontext Handle) {
  for (const std::shared_ptr<Context> &C : Contexts)
    if (C->Handle == Handle && !C->IsDead)
      return C;
  return nullptr;
}

/// Finds the context's data, or makes them. After a reset the driver gives the
/// same handle to a new context; CUPTI's uid tells the two apart.
std::shared_ptr<Context> Session::enterContext(CUcontext Handle, uint32_t Uid) {
  std::shared_ptr<Context> C;
  {
    std::lock_guard Lock(Data);
    C = findContext(Handle);
    if (C && (Uid == 0 || C->Uid == 0 || C->Uid == Uid))
      return C;
    if (C)
      C->IsDead = true;
    C = std::make_shared<Context>(Handle, Uid);
  }
  C->identify();
  C->IsPaused = IsPaused;
  C->HasGraphs = HasGraphs;
  // Each run on a GPU draws other grids, unless the user says which.
  C->Salt = IsSimulated || Options.seed ? Options.seed : std::random_device{}();
  theLog().detail(2, "context {} (uid {}) on device {}, compute {}.x",
                  static_cast<void *>(Handle), Uid, C->Device, C->ComputeMajor);
  std::lock_guard Lock(Data);
  Contexts.push_back(C);
  return C;
}

void Session::configure(CUcontext Handle, uint32_t Uid) {
  std::unique_lock Lock(Configuring);
  OwnCalls Own(Handle);
  if (!Own.ok())
    return;
  std::shared_ptr<Context> C = enterContext(Handle, Uid);
  Code.configure(*C);
  if (C->TheShadow)
    awaitGrace(Lock, *C);
}

void Session::codeUnloading(CUlibrary Library, CUmodule Module) {
  uint64_t Serial;
  ContextList Affected;
  {
    std::lock_guard Lock(Data);
    Serial = Code.find(Library, Module);
    for (const std::shared_ptr<Context> &C : Contexts)
      if (C->Configured.contains(Serial))
        Affected.push_back(C);
  }
  takeStock(Affected);
  for (const std::shared_ptr<Context> &C : Affected)
    forgetShadow(*C, Serial);
  {
    std::lock_guard Lock(Configuring);
    for (const std::shared_ptr<Context> &C : Affected)
      std::erase_if(C->Configs,
                    [=](const SwitchedOn &S) { return S.Code == Serial; });
  }
  std::lock_guard Lock(Data);
  for (const std::shared_ptr<Context> &C : Affected)
    C->forgetCode(Serial);
  Code.removeCode(Serial);
  Twins.forget(Library, Module);
  forgetHandles();
}

/// Clears the cells, which name sites of the code that is being unloaded.
void Session::forgetShadow(Context &C, uint64_t Serial) {
  std::lock_guard Lock(Configuring);
  std::vector<std::pair<uint64_t, MemoryRange>> Gone;
  {
    std::lock_guard DataLock(Data);
    if (!C.TheShadow || C.IsDead || C.Failure != CUDA_SUCCESS || C.IsStuck)
      return;
    auto Rest = std::partition(
        C.Variables.begin(), C.Variables.end(),
        [=](const auto &Entry) { return Entry.first != Serial; });
    Gone.assign(Rest, C.Variables.end());
    C.Variables.erase(Rest, C.Variables.end());
  }
  OwnCalls Own(C.Handle);
  if (!Own.ok())
    return;
  for (const auto &[Code, Range] : Gone)
    C.TheShadow->remove(Range);
  C.TheShadow->forgetAccesses();
}

/// Code is gone: the handles of its functions may be given to others.
void Session::forgetHandles() {
  Residencies.clear();
  ++HandlesReused;
}

void Session::contextEnding(CUcontext Ctx) {
  ContextList Ending;
  {
    std::lock_guard Lock(Data);
    if (std::shared_ptr<Context> C = findContext(Ctx))
      Ending.push_back(C);
  }
  takeStock(Ending);
}

void Session::deviceEnding(CUdevice Device) {
  ContextList Ending;
  {
    std::lock_guard Lock(Data);
    for (const std::shared_ptr<Context> &C : Contexts)
      if (C->Device == Device)
        Ending.push_back(C);
  }
  takeStock(Ending);
}

void Session::contextGone(CUcontext Ctx) {
  Ordering.forget(Ctx);
  hostChecks().pending().forget(Ctx);
  std::lock_guard Lock(Data);
  Memory.forget(Ctx);
  if (std::shared_ptr<Context> C = findContext(Ctx))
    C->IsDead = true;
  Twins.forget(Ctx);
  forgetHandles();
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

void Session::synchronised(CUcontext Ctx, CUresult Result) {
  if (!isSticky(Result))
    return;
  std::lock_guard Lock(Data);
  if (std::shared_ptr<Context> C = findContext(Ctx))
    kernelFailed(*C, Result);
}

void Session::kernelFailed(Context &C, CUresult Result) {
  if (C.Failure != CUDA_SUCCESS || !C.hasCheckedCode())
    return;
  C.Failure = Result;
  C.FailureName = theDriver().errorName(Result);
  // The simulated GPU knows more of it.
  if (!IsSimulated)
    noteFault(C, Result);
  theLog().say("a kernel failed on device {}: {}; last launched: {}. Races "
               "seen before are reported; what runs later in this context is "
               "not checked",
               C.Device, theDriver().errorText(Result), C.lastKernels());
}

/// The caller holds the data lock, as whoever asks where it was launched.
void Session::noteFault(const Context &C, CUresult Result) {
  Occurrence O;
  O.Device = C.Device;
  O.Fault = faultOf(Result);
  O.Explanation = fmt::format("The driver says {}.", C.FailureName);
  SiteInfo Site;
  std::function<std::string()> At;
  const std::vector<std::string> Kernels = C.lateKernels();
  if (Kernels.size() == 1) {
    Site.Kernel = demangle(Kernels.front());
    At = [this, Kernel = Kernels.front()] {
      const auto Found = LaunchedAt.find(Kernel);
      return Found == LaunchedAt.end() ? std::string()
                                       : Found->second.text(demangle(Kernel));
    };
  } else {
    O.Explanation += fmt::format(" It does not say which kernel; last "
                                 "launched: {}.",
                                 C.lastKernels());
  }
  kernelFaults().add(std::move(O), std::move(Site), std::move(At));
}

} // namespace crsan
