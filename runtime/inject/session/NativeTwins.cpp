// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Native twins of kernels, as the driver has them.

#include "session/NativeTwins.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "crsan/abi/Names.h"

#include <chrono>
#include <iterator>

namespace crsan {

/// The kernel of a library or a module; null: there is none.
static CUfunction lookUp(CUlibrary Library, CUmodule Module,
                         const std::string &Name) {
  const Driver &D = theDriver();
  CUfunction Function = nullptr;
  CUkernel Kernel = nullptr;
  if (Module && D.cuModuleGetFunction &&
      D.cuModuleGetFunction(&Function, Module, Name.c_str()) == CUDA_SUCCESS)
    return Function;
  if (Library && D.cuLibraryGetKernel &&
      D.cuLibraryGetKernel(&Kernel, Library, Name.c_str()) == CUDA_SUCCESS)
    return reinterpret_cast<CUfunction>(Kernel);
  return nullptr;
}

/// The twin of a kernel that is launched by this handle; null: there is none.
static CUfunction twinOf(CUfunction Kernel, const std::string &Name) {
  const Driver &D = theDriver();
  CUmodule Module = nullptr;
  CUlibrary Library = nullptr;
  // A handle that is no CUfunction is a CUkernel.
  if (!D.cuFuncGetModule || D.cuFuncGetModule(&Module, Kernel) != CUDA_SUCCESS)
    if (!D.cuKernelGetLibrary ||
        D.cuKernelGetLibrary(&Library, reinterpret_cast<CUkernel>(Kernel)) !=
            CUDA_SUCCESS)
      return nullptr;
  return lookUp(Library, Module, abi::TwinPrefix + Name);
}

void NativeTwins::load(const Context &C,
                       const std::vector<CodeWithKernels> &All) {
  using Clock = std::chrono::steady_clock;
  const auto End = Clock::now() + std::chrono::milliseconds(20);
  for (const auto &[Code, Kernels] : All)
    for (const std::string &Name : Kernels) {
      if (Clock::now() > End)
        return;
      int Registers;
      if (const CUfunction Twin =
              lookUp(Code.Library, Code.Module, abi::TwinPrefix + Name);
          Twin && theDriver().attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, Twin,
                                        C.Device, Registers) == CUDA_SUCCESS) {
        std::lock_guard Guard(Lock);
        Loaded.emplace(C.Handle, Twin);
      }
    }
}

/// Whether a twin that is loaded needs no more of the device than its kernel:
/// then as many of its blocks run at a time.
static bool fits(const Context &C, CUfunction Kernel, CUfunction Twin) {
  for (const CUfunction_attribute Need :
       {CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES}) {
    int OfKernel, OfTwin;
    if (theDriver().attribute(Need, Kernel, C.Device, OfKernel) !=
            CUDA_SUCCESS ||
        theDriver().attribute(Need, Twin, C.Device, OfTwin) != CUDA_SUCCESS ||
        OfTwin > OfKernel)
      return false;
  }
  return true;
}

/// Finds out about the twin of a kernel, unless it would have to be loaded and
/// that must not be.
void NativeTwins::make(const Context &C, const std::string &Name,
                       CUfunction Kernel, bool MayLoad) {
  Twin New;
  if (const CUfunction Handle = twinOf(Kernel, Name)) {
    {
      std::lock_guard Guard(Lock);
      if (!MayLoad && !Loaded.contains({C.Handle, Handle})) {
        Wanted.emplace(Key{C.Handle, Kernel}, Name);
        return;
      }
    }
    New.FitsAsWell = fits(C, Kernel, Handle);
    if (theDriver().attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, Handle,
                              C.Device, New.MaxThreads) == CUDA_SUCCESS)
      New.Handle = Handle;
  }
  theLog().detail(2, "kernel {}: {}", Name,
                  !New.Handle      ? "has no twin without checks"
                  : New.FitsAsWell ? "has a twin without checks"
                                   : "has a twin without checks, which needs "
                                     "more registers or shared memory");
  std::lock_guard Guard(Lock);
  Known.emplace(Key{C.Handle, Kernel}, New);
  Wanted.erase({C.Handle, Kernel});
}

/// Attributes that a program may set, and on which it depends whether and how a
/// kernel runs.
static constexpr CUfunction_attribute Settable[] = {
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED};

/// Gives the twin the attributes that its kernel has now.
static bool imitate(const Context &C, CUfunction Kernel, CUfunction Twin) {
  const Driver &D = theDriver();
  for (const CUfunction_attribute A : Settable) {
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
                             const LaunchShape &Shape, CUstream Stream,
                             bool IsIdle) {
  const Key Kernel{C.Handle, Shape.Function};
  std::optional<Twin> T = known(Kernel);
  const uint64_t Now = Changes;
  // What is known costs next to nothing: a program may launch a kernel every
  // few microseconds.
  if (!T || (T->Handle && T->Imitated != Now) || IsIdle) {
    OwnCalls Own(C.Handle);
    if (!Own.ok() || isCapturing(Stream))
      return nullptr;
    if (!T)
      make(C, Name, Shape.Function, IsIdle);
    if (IsIdle)
      loadWanted(C);
    T = known(Kernel);
    if (T && T->Handle && T->Imitated != Now &&
        imitate(C, Shape.Function, T->Handle)) {
      std::lock_guard Guard(Lock);
      Known[Kernel].Imitated = T->Imitated = Now;
    }
  }
  // A graph would launch the twin each time.
  if (!T || !T->Handle || T->Imitated != Now || Shape.Threads > T->MaxThreads ||
      (Shape.IsTogether && !T->FitsAsWell) || isCapturing(Stream))
    return nullptr;
  return T->Handle;
}

/// Loads the twins that could not be loaded while kernels ran.
void NativeTwins::loadWanted(const Context &C) {
  std::unique_lock Guard(Lock);
  const std::map<Key, std::string> All = Wanted;
  Guard.unlock();
  for (const auto &[Kernel, Name] : All)
    if (Kernel.first == C.Handle)
      make(C, Name, Kernel.second, /*MayLoad=*/true);
}

void NativeTwins::forget() {
  std::lock_guard Guard(Lock);
  Known.clear();
  Loaded.clear();
  Wanted.clear();
}

} // namespace crsan
