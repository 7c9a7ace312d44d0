// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Native twins of kernels, as the driver has them.

#include "session/NativeTwins.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "crsan/abi/Names.h"

#include <chrono>
#include <utility>

namespace crsan {

/// The kernel of loaded code; null: there is none. May load it.
static CUfunction lookUp(const LoadedCode &Code, const std::string &Name) {
  const Driver &D = theDriver();
  CUfunction Function = nullptr;
  CUkernel Kernel = nullptr;
  if (Code.Module && D.cuModuleGetFunction &&
      D.cuModuleGetFunction(&Function, Code.Module, Name.c_str()) ==
          CUDA_SUCCESS)
    return Function;
  if (Code.Library && D.cuLibraryGetKernel &&
      D.cuLibraryGetKernel(&Kernel, Code.Library, Name.c_str()) == CUDA_SUCCESS)
    return reinterpret_cast<CUfunction>(Kernel);
  return nullptr;
}

void NativeTwins::load(const Context &C,
                       const std::vector<CodeWithKernels> &All) {
  using Clock = std::chrono::steady_clock;
  const auto End = Clock::now() + std::chrono::milliseconds(20);
  for (const auto &[Code, Kernels] : All)
    for (const std::string &Name : Kernels) {
      if (Clock::now() > End)
        return;
      int Registers; // That the driver knows only of what is loaded.
      if (const CUfunction Twin = lookUp(Code, abi::TwinPrefix + Name);
          Twin && theDriver().attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, Twin,
                                        C.Device, Registers) == CUDA_SUCCESS) {
        std::lock_guard Guard(Lock);
        Loaded[{C.Handle, Code.Library, Code.Module, Name}] = Twin;
      }
    }
}

/// Whether the twin needs no more of the device than its kernel: then as many
/// of its blocks run at a time.
static bool fits(const Context &C, CUfunction Kernel, CUfunction Twin) {
  // Registers are given to a warp in units of 8 for each thread.
  constexpr std::pair<CUfunction_attribute, int> NeedsByUnit[] = {
      {CU_FUNC_ATTRIBUTE_NUM_REGS, 8},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1}};
  for (const auto &[Need, Unit] : NeedsByUnit) {
    int OfKernel, OfTwin;
    if (theDriver().attribute(Need, Kernel, C.Device, OfKernel) !=
            CUDA_SUCCESS ||
        theDriver().attribute(Need, Twin, C.Device, OfTwin) != CUDA_SUCCESS ||
        (OfTwin + Unit - 1) / Unit > (OfKernel + Unit - 1) / Unit)
      return false;
  }
  return true;
}

/// Finds out about the twin of a kernel. Loads no code.
NativeTwins::Twin NativeTwins::make(const Context &C, const std::string &Name,
                                    CUfunction Kernel) {
  const Driver &D = theDriver();
  CUmodule Module = nullptr;
  CUlibrary Library = nullptr;
  // A handle that is no CUfunction is a CUkernel.
  if (!D.cuFuncGetModule || D.cuFuncGetModule(&Module, Kernel) != CUDA_SUCCESS)
    if (!D.cuKernelGetLibrary ||
        D.cuKernelGetLibrary(&Library, reinterpret_cast<CUkernel>(Kernel)) !=
            CUDA_SUCCESS)
      return {};
  Twin New;
  {
    std::lock_guard Guard(Lock);
    const auto Found = Loaded.find({C.Handle, Library, Module, Name});
    if (Found != Loaded.end())
      New.Handle = Found->second;
  }
  if (New.Handle) {
    New.FitsAsWell = fits(C, Kernel, New.Handle);
    if (D.attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, New.Handle,
                    C.Device, New.MaxThreads) != CUDA_SUCCESS)
      New.Handle = nullptr;
  }
  theLog().detail(2, "kernel {}: {}", Name,
                  !New.Handle      ? "no twin without checks is loaded"
                  : New.FitsAsWell ? "has a twin without checks"
                                   : "has a twin without checks, which needs "
                                     "more registers or shared memory");
  return New;
}

/// Gives the twin the attributes that its kernel has now, as far as a program
/// may set them and they decide whether and how a kernel runs. False: it cannot
/// have them.
static bool imitate(const Context &C, CUfunction Kernel, CUfunction Twin) {
  const Driver &D = theDriver();
  for (const CUfunction_attribute A :
       {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH}) {
    int Value, Own;
    if (D.attribute(A, Kernel, C.Device, Value) != CUDA_SUCCESS)
      continue; // Of a newer GPU or driver: there is nothing to imitate.
    if ((D.attribute(A, Twin, C.Device, Own) != CUDA_SUCCESS || Own != Value) &&
        D.setAttribute(A, Twin, C.Device, Value) != CUDA_SUCCESS)
      return false;
  }
  return true;
}

std::optional<NativeTwins::Twin> NativeTwins::known(const Key &Kernel) {
  std::lock_guard Guard(Lock);
  const auto Found = Known.find(Kernel);
  return Found != Known.end() ? std::optional(Found->second) : std::nullopt;
}

CUfunction NativeTwins::find(const Context &C, const std::string &Name,
                             const LaunchShape &Shape, CUstream Stream) {
  const Key Kernel{C.Handle, Shape.Function};
  std::optional<Twin> T = known(Kernel);
  const uint64_t Now = Changes;
  // What is known costs next to nothing: a program may launch a kernel every
  // few microseconds.
  if (!T || (T->Handle && T->Imitated != Now)) {
    OwnCalls Own(C.Handle);
    if (!Own.ok() || isCapturing(Stream))
      return nullptr;
    if (!T)
      T = make(C, Name, Shape.Function);
    if (T->Handle)
      T->IsLikeKernel = imitate(C, Shape.Function, T->Handle);
    T->Imitated = Now;
    std::lock_guard Guard(Lock);
    Known[Kernel] = *T;
  }
  const bool IsFit = T->Handle && T->IsLikeKernel &&
                     Shape.Threads <= T->MaxThreads &&
                     (T->FitsAsWell || !Shape.IsTogether);
  // A graph would launch the twin each time. The legacy default stream, of most
  // launches, cannot be captured.
  const bool IsLegacy = !Stream || Stream == CU_STREAM_LEGACY;
  return IsFit && (IsLegacy || !isCapturing(Stream)) ? T->Handle : nullptr;
}

void NativeTwins::forget(CUlibrary Library, CUmodule Module) {
  std::lock_guard Guard(Lock);
  Known.clear();
  std::erase_if(Loaded, [=](const auto &Entry) {
    const auto &[Ctx, OfLibrary, OfModule, Name] = Entry.first;
    return OfLibrary == Library && OfModule == Module;
  });
}

void NativeTwins::forget(CUcontext Ctx) {
  std::lock_guard Guard(Lock);
  Known.clear();
  std::erase_if(Loaded, [=](const auto &Entry) {
    return std::get<CUcontext>(Entry.first) == Ctx;
  });
}

} // namespace crsan
