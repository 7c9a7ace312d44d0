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

/// Finds out about the twin of a kernel. Loads the kernel, but no twin.
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
  // To say how many registers the kernel takes, the driver loads it, as this
  // launch would without the twin. Later, a kernel may run that waits for it,
  // and the driver may not load code before that one has ended.
  int Registers;
  if (New.Handle &&
      (D.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, Kernel, C.Device, Registers) !=
           CUDA_SUCCESS ||
       D.attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, New.Handle,
                   C.Device, New.MaxThreads) != CUDA_SUCCESS))
    New.Handle = nullptr;
  theLog().detail(2, "kernel {}: {}", Name,
                  New.Handle ? "has a twin without checks"
                             : "no twin without checks is loaded");
  return New;
}

static uint64_t bitOf(CUfunction_attribute Attribute) {
  return uint64_t(1) << unsigned(Attribute) % 64;
}

void NativeTwins::attributeChanged(
    std::optional<CUfunction_attribute> Attribute) {
  Changed |= Attribute ? bitOf(*Attribute) : ~uint64_t(0);
  ++Changes;
}

/// Gives the twin those attributes that its kernel has now and that the program
/// has changed, of this kernel or of others, as far as they decide whether and
/// how a kernel runs. False: it cannot have them.
bool NativeTwins::imitate(const Context &C, CUfunction Kernel,
                          CUfunction Twin) const {
  const Driver &D = theDriver();
  for (const CUfunction_attribute A :
       {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH}) {
    int Value, Own;
    if (!(Changed & bitOf(A)))
      continue;
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
  // A program may launch a kernel every few microseconds, and each call of the
  // driver takes one: a launch asks only for what is needed and not known.
  const bool IsChanged = (T ? T->Imitated : 0) != Now,
             NeedsFit = Shape.IsTogether && !(T && T->FitsAsWell.has_value());
  if (!T || (T->Handle && (IsChanged || NeedsFit))) {
    OwnCalls Own(C.Handle);
    if (!Own.ok() || isCapturing(Stream))
      return nullptr;
    if (!T)
      T = make(C, Name, Shape.Function);
    if (T->Handle && IsChanged)
      T->IsLikeKernel = imitate(C, Shape.Function, T->Handle);
    if (T->Handle && NeedsFit)
      T->FitsAsWell = fits(C, Shape.Function, T->Handle);
    T->Imitated = Now;
    std::lock_guard Guard(Lock);
    Known[Kernel] = *T;
  }
  const bool IsFit = T->Handle && T->IsLikeKernel &&
                     Shape.Threads <= T->MaxThreads &&
                     (!Shape.IsTogether || T->FitsAsWell.value());
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
