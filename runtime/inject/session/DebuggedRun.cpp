// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races as breakpoints, without CUPTI.

#include "session/DebuggedRun.h"

#include "common/Driver.h"
#include "common/Log.h"

namespace crsan {

DebuggedRun::DebuggedRun(const Flags &Options) : Options(Options) {
  Driver &D = theDriver();
  std::string Missing = D.load();
  if (Missing.empty() && !D.cuFuncGetModule)
    Missing = "cuFuncGetModule";
  IsPossible = Missing.empty();
  if (IsPossible)
    theLog().say("under a debugger: races stop at a breakpoint and are not "
                 "reported");
  else
    theLog().say("the CUDA driver lacks {}; nothing is checked, install a "
                 "driver for CUDA 12 or newer",
                 Missing);
}

void DebuggedRun::launching(CUfunction Function) {
  if (!IsPossible)
    return;
  Driver &D = theDriver();
  CUcontext Handle = nullptr;
  CUmodule Module = nullptr;
  CUresult Result = D.cuCtxGetCurrent(&Handle);
  if (Result == CUDA_SUCCESS)
    Result = D.cuFuncGetModule(&Module, Function);
  // The launch says so, too.
  if (Result != CUDA_SUCCESS)
    return theLog().detail(2, "a kernel's module is not known: {}",
                           D.errorText(Result));
  // Handles are reused, ids are not.
  ContextId Id = reinterpret_cast<uintptr_t>(Handle);
  if (D.cuCtxGetId)
    D.cuCtxGetId(Handle, &Id);
  std::lock_guard Guard(Lock);
  if (!Seen.emplace(Id, Module).second)
    return;
  OwnCalls Own(Handle);
  if (std::string Error = switchOn(Module, Id, Handle); !Error.empty())
    theLog().say("cannot switch on the checks of a module: {}; it is not "
                 "checked",
                 Error);
}

/// Returns what went wrong, or "".
std::string DebuggedRun::switchOn(CUmodule Module, ContextId Id,
                                  CUcontext Handle) {
  Driver &D = theDriver();
  CUdeviceptr Address = 0;
  size_t Size = 0;
  // A module without a config is not instrumented.
  if (D.cuModuleGetGlobal(&Address, &Size, Module, abi::ConfigName) !=
          CUDA_SUCCESS ||
      Size < sizeof(abi::Config))
    return {};
  std::unique_ptr<Context> &C = Contexts[Id];
  if (!C) {
    std::string Error;
    const CheckBuffers Buffers = CheckBuffers::make(Options.max_records, Error);
    if (!Buffers.Records)
      return Error;
    C = std::make_unique<Context>(Handle, uint32_t(Id));
    C->use(Buffers);
  }
  // The image would tell whether blocks may be permuted, and CUPTI would tell
  // the program's allocations. Neither is available under a debugger.
  abi::Config Config = C->makeConfig(Options, /*MayShuffle=*/false,
                                     /*IsShadowed=*/false);
  CUresult Result = C->writeConfig(Address, Config);
  theLog().detail(2, "module at {} switched on: {}",
                  static_cast<void *>(Module), D.errorName(Result));
  return Result == CUDA_SUCCESS ? "" : D.errorText(Result);
}

} // namespace crsan
