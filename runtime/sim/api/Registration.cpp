// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that the program brings along.
//
// Constructors of the program register fat binaries, kernels and variables;
// launches come in two calls, of which compilers make the first.

#include "AddedChecks.h"
#include "Process.h"
#include "SimulatedRun.h"
#include "common/Log.h"
#include "crsan/abi/Names.h"
#include "image/DeviceImage.h"
#include "image/ProgramCode.h"
#include "session/Session.h"

#include <dlfcn.h>

namespace crsan::api {

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

CUlib_st *Process::addImage(const void *Code, std::string Name) {
  auto *Image = new CUlib_st;
  Image->Code = Code;
  Image->Name = std::move(Name);
  Images.insert(Image);
  return Image;
}

void Process::removeImage(CUlib_st *Image) {
  for (const void *F : Image->HostFunctions)
    HostFunctions.erase(F);
  for (const void *V : Image->HostVariables)
    HostVariables.erase(V);
  for (auto [Ordinal, Id] : Image->Loaded) {
    Machine &M = device(Ordinal).M;
    if (TheSession)
      for (const HostRange &Range : M.storage(Id))
        TheSession->freed(TheSession->freeing(uint64_t(Range.Begin)));
    M.unload(Id);
  }
  Images.erase(Image);
  delete Image;
}

/// Shows the session what a module holds. The tables are read in place: they
/// are variables that nobody writes.
bool Process::showImage(CUlib_st &Image, Device &D, ModuleId Id) {
  std::vector<ImageObject> Objects;
  for (const std::string &Text : Image.PTX) {
    for (const DefinedFunction &F : definedFunctions(Text))
      Objects.push_back({F.Name, true, F.IsKernel, std::string("code")});
    for (std::string_view Name : wordsWithPrefix(Text, abi::TablePrefix))
      if (std::optional<Symbol> S = D.M.findSymbol(Id, Name))
        Objects.push_back(
            {Name, false, false,
             std::span(static_cast<const uint8_t *>(S->Address), S->Size)});
    if (std::optional<Symbol> S = D.M.findSymbol(Id, abi::ConfigName))
      Objects.push_back({abi::ConfigName, false, false, std::string("zero")});
  }
  TheSession->imageShown(Objects);
  TheSession->codeLoaded(&Image, nullptr, nullptr, D.context(), D.Uid);
  return true;
}

/// An object of ours in the program's code.
static void learn(OracleDetector &Oracle, int Device, std::string_view Name,
                  const Symbol &S) {
  Oracle.ignore(Device, S.Address, S.Size);
  if (Name.starts_with(abi::TablePrefix))
    Oracle.learn({static_cast<const uint8_t *>(S.Address), S.Size});
}

ModuleId Process::loadOn(CUlib_st &Image, Device &D, cudaError_t &Error) {
  if (auto Found = Image.Loaded.find(D.Ordinal); Found != Image.Loaded.end())
    return Found->second;
  Error = cudaErrorNoKernelImageForDevice;
  if (!Image.IsUnpacked) {
    Image.IsUnpacked = true;
    auto PTX = findPTX(Image.Code, Architecture);
    if (auto *Why = std::get_if<std::string>(&PTX)) {
      Image.Problem = *Why;
      theLog().say("simulated GPU: {}: {}", Image.Name, *Why);
    } else {
      Image.PTX = std::move(std::get<std::vector<std::string>>(PTX));
      Image.Target = targetIn(Image.PTX.front()).Number;
      addChecks(Image, Options, TheSession);
    }
  }
  if (!Image.Problem.empty())
    return 0;
  auto Loaded = D.M.load(Image.PTX, Image.Name);
  if (auto *Why = std::get_if<std::string>(&Loaded);
      Why && takeChecksOut(Image, *Why, TheSession))
    Loaded = D.M.load(Image.PTX, Image.Name);
  if (auto *Why = std::get_if<std::string>(&Loaded)) {
    Image.Problem = *Why;
    theLog().say("simulated GPU: the code of {} cannot be loaded: {}",
                 Image.Name, *Why);
    Error = cudaErrorInvalidPtx;
    return 0;
  }
  ModuleId Id = std::get<ModuleId>(Loaded);
  Image.Loaded[D.Ordinal] = Id;
  Error = cudaSuccess;
  if (OracleDetector *Oracle = TheRun->oracle())
    for (const std::string &Text : Image.PTX)
      for (std::string_view Name : wordsWithPrefix(Text, "__crsan_"))
        if (std::optional<Symbol> S = D.M.findSymbol(Id, Name))
          learn(*Oracle, D.Ordinal, Name, *S);
  if (TheSession)
    for (const HostRange &Range : D.M.storage(Id))
      TheSession->allocated(D.context(), uint64_t(Range.Begin), Range.Size);
  if (TheSession && !Image.IsShown)
    Image.IsShown = showImage(Image, D, Id);
  return Id;
}

//===----------------------------------------------------------------------===//
// Kernels and variables
//===----------------------------------------------------------------------===//

CUkern_st *Process::kernelNamed(CUlib_st &Image, const std::string &Name) {
  auto [Found, IsNew] = Image.Kernels.try_emplace(Name);
  if (IsNew) {
    Found->second.Home = &Image;
    Found->second.Name = Name;
  }
  return &Found->second;
}

CUkern_st *Process::findKernel(const void *Function) {
  if (auto Found = HostFunctions.find(Function); Found != HostFunctions.end())
    return Found->second;
  for (CUlib_st *Image : Images)
    for (auto &[Name, Kernel] : Image->Kernels)
      if (&Kernel == Function)
        return &Kernel;
  return nullptr;
}

const KernelInfo *Process::infoOf(CUkern_st &Kernel, Device &D,
                                  cudaError_t &Error) {
  ModuleId Id = loadOn(*Kernel.Home, D, Error);
  if (!Id)
    return nullptr;
  const KernelInfo *Info = D.M.findKernel(Id, Kernel.Name);
  Error = Info ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  return Info;
}

CRSanVariable *Process::findVariable(const void *HostVariable) {
  auto Found = HostVariables.find(HostVariable);
  return Found == HostVariables.end() ? nullptr : &Found->second;
}

std::optional<Symbol> Process::symbolOf(const CRSanVariable &V, Device &D,
                                        cudaError_t &Error) {
  ModuleId Id = loadOn(*V.Home, D, Error);
  if (!Id)
    return std::nullopt;
  std::optional<Symbol> Found = D.M.findSymbol(Id, V.Name);
  Error = Found ? cudaSuccess : cudaErrorInvalidSymbol;
  return Found;
}

/// One variable that host and device share: its address goes into the host's
/// pointer. The storage is the first device's.
static void bindManaged(Process &P, CUlib_st &Image) {
  for (const void *Host : Image.HostVariables) {
    CRSanVariable *V = P.findVariable(Host);
    if (!V || !V->ManagedPointer)
      continue;
    if (P.deviceCount() > 1)
      stop("managed variables are not supported with sim_devices greater than "
           "1; run with sim_devices=1");
    cudaError_t Error = cudaSuccess;
    if (std::optional<Symbol> S = P.symbolOf(*V, P.device(0), Error))
      *V->ManagedPointer = S->Address;
  }
}

} // namespace crsan::api

using namespace crsan::api;

//===----------------------------------------------------------------------===//
// What compilers call
//===----------------------------------------------------------------------===//

static CUlib_st *imageOf(void **Handle) {
  return reinterpret_cast<CUlib_st *>(Handle);
}

CRSAN_API void **__cudaRegisterFatBinary(void *Code) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  Dl_info Info{};
  std::string Name =
      dladdr(Code, &Info) && Info.dli_fname ? Info.dli_fname : "?";
  return reinterpret_cast<void **>(P.addImage(Code, std::move(Name)));
}

CRSAN_API void __cudaRegisterFatBinaryEnd(void **Handle) {}

CRSAN_API void __cudaUnregisterFatBinary(void **Handle) {
  Process &P = Process::get();
  // Threads that the child does not have may have held locks.
  if (P.isForkedChild())
    return;
  CUlib_st *Image = imageOf(Handle);
  {
    std::lock_guard Lock(P);
    if (!P.Images.contains(Image))
      return;
    P.drain();
  }
  if (P.session())
    P.session()->codeUnloading(Image, nullptr);
  std::lock_guard Lock(P);
  P.removeImage(Image);
}

CRSAN_API void __cudaRegisterFunction(void **Handle, const char *HostFunction,
                                      char *, const char *Name, int, uint3 *,
                                      uint3 *, dim3 *, dim3 *, int *) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  CUlib_st &Image = *imageOf(Handle);
  P.HostFunctions[HostFunction] = P.kernelNamed(Image, Name);
  Image.HostFunctions.push_back(HostFunction);
}

static CRSanVariable &registerVariable(void **Handle, const void *Host,
                                       const char *Name, size_t Size) {
  Process &P = Process::get();
  CUlib_st &Image = *imageOf(Handle);
  CRSanVariable &V = P.HostVariables[Host];
  V = {&Image, Name, Size, nullptr};
  Image.HostVariables.push_back(Host);
  return V;
}

CRSAN_API void __cudaRegisterVar(void **Handle, char *Host, char *,
                                 const char *Name, int, size_t Size, int, int) {
  std::lock_guard Lock(Process::get());
  registerVariable(Handle, Host, Name, Size);
}

CRSAN_API void __cudaRegisterManagedVar(void **Handle, void **HostPointer,
                                        char *, const char *Name, int,
                                        size_t Size, int, int) {
  std::lock_guard Lock(Process::get());
  registerVariable(Handle, HostPointer, Name, Size).ManagedPointer =
      HostPointer;
}

CRSAN_API char __cudaInitModule(void **Handle) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  bindManaged(P, *imageOf(Handle));
  return 1;
}

CRSAN_API void __cudaRegisterHostVar(void **, const char *, char *, size_t) {
  CRSAN_UNSUPPORTED("__cudaRegisterHostVar");
}

CRSAN_API unsigned __cudaPushCallConfiguration(dim3 Grid, dim3 Block,
                                               size_t Shared, void *Stream) {
  thisThread().Calls.push_back(
      {Grid, Block, Shared, static_cast<cudaStream_t>(Stream)});
  return 0;
}

CRSAN_API cudaError_t __cudaPopCallConfiguration(dim3 *Grid, dim3 *Block,
                                                 size_t *Shared, void *Stream) {
  auto &Calls = thisThread().Calls;
  if (Calls.empty())
    return thisThread().Last = cudaErrorMissingConfiguration;
  const CallConfiguration &C = Calls.back();
  *Grid = C.Grid;
  *Block = C.Block;
  *Shared = C.Shared;
  *static_cast<cudaStream_t *>(Stream) = C.Stream;
  Calls.pop_back();
  return cudaSuccess;
}

CRSAN_API cudaError_t __cudaGetKernel(cudaKernel_t *Kernel,
                                      const void *HostFunction) {
  return enter([&](Process &P) {
    *Kernel = P.findKernel(HostFunction);
    return *Kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}
