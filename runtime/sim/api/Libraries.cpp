// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that the program loads while it runs.

#include "Process.h"
#include "session/Session.h"

#include <fstream>
#include <sstream>

using namespace crsan::api;

static cudaError_t load(cudaLibrary_t *Library, const void *Code,
                        std::string Name) {
  return enterDevice([&](Process &P) {
    CUlib_st *Image = P.addImage(Code, std::move(Name));
    cudaError_t Error = cudaSuccess;
    if (!P.loadOn(*Image, P.current(), Error)) {
      P.removeImage(Image);
      return Error;
    }
    *Library = Image;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaLibraryLoadData(cudaLibrary_t *Library,
                                          const void *Code, cudaJitOption *,
                                          void **, unsigned,
                                          cudaLibraryOption *, void **,
                                          unsigned) {
  return load(Library, Code, "a library loaded from memory");
}

CRSAN_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *Library,
                                              const char *Path, cudaJitOption *,
                                              void **, unsigned,
                                              cudaLibraryOption *, void **,
                                              unsigned) {
  std::ifstream In(Path, std::ios::binary);
  std::ostringstream Bytes;
  Bytes << In.rdbuf();
  if (!In || !Bytes) // A folder, for one, can be opened but not read.
    return thisThread().Last = cudaErrorFileNotFound;
  // With a terminator: it may be PTX.
  return load(Library, Bytes.str().c_str(), Path);
}

/// Runs a body with a library that is loaded on the current device.
template <typename Body>
static cudaError_t withLibrary(cudaLibrary_t Library, Body B) {
  return enterDevice([&](Process &P) {
    if (!P.Images.contains(Library))
      return cudaErrorInvalidResourceHandle;
    cudaError_t Error = cudaSuccess;
    ModuleId Id = P.loadOn(*Library, P.current(), Error);
    return Id ? B(P, Id) : Error;
  });
}

CRSAN_API cudaError_t cudaLibraryUnload(cudaLibrary_t Library) {
  Process &P = Process::get();
  {
    std::lock_guard Lock(P);
    if (!P.Images.contains(Library))
      return thisThread().Last = cudaErrorInvalidResourceHandle;
    P.drain();
  }
  if (P.session())
    P.session()->codeUnloading(Library, nullptr);
  std::lock_guard Lock(P);
  P.removeImage(Library);
  return cudaSuccess;
}

CRSAN_API cudaError_t cudaLibraryGetKernel(cudaKernel_t *Kernel,
                                           cudaLibrary_t Library,
                                           const char *Name) {
  return withLibrary(Library, [&](Process &P, ModuleId Id) {
    if (!P.current().M.findKernel(Id, Name))
      return cudaErrorSymbolNotFound;
    *Kernel = P.kernelNamed(*Library, Name);
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaLibraryGetKernelCount(unsigned *Count,
                                                cudaLibrary_t Library) {
  return withLibrary(Library, [&](Process &P, ModuleId Id) {
    *Count = unsigned(P.current().M.kernels(Id).size());
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *Kernels,
                                                  unsigned Count,
                                                  cudaLibrary_t Library) {
  return withLibrary(Library, [&](Process &P, ModuleId Id) {
    for (const KernelInfo *Info : P.current().M.kernels(Id))
      if (Count) {
        *Kernels++ = P.kernelNamed(*Library, Info->Name);
        --Count;
      }
    return cudaSuccess;
  });
}

static cudaError_t getVariable(void **Address, size_t *Size,
                               cudaLibrary_t Library, const char *Name,
                               bool Managed) {
  return withLibrary(Library, [&](Process &P, ModuleId Id) {
    std::optional<Symbol> S = P.current().M.findSymbol(Id, Name);
    if (!S || S->IsManaged != Managed)
      return cudaErrorSymbolNotFound;
    if (Address)
      *Address = S->Address;
    if (Size)
      *Size = S->Size;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaLibraryGetGlobal(void **Address, size_t *Size,
                                           cudaLibrary_t Library,
                                           const char *Name) {
  return getVariable(Address, Size, Library, Name, false);
}

CRSAN_API cudaError_t cudaLibraryGetManaged(void **Address, size_t *Size,
                                            cudaLibrary_t Library,
                                            const char *Name) {
  return getVariable(Address, Size, Library, Name, true);
}
