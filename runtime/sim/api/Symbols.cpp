// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies to and from variables.

#include "Copy.h"

using namespace crsan::api;

static cudaError_t findSymbol(Process &P, const void *Host, Symbol &Found) {
  CRSanVariable *V = P.findVariable(Host);
  if (!V)
    return cudaErrorInvalidSymbol;
  cudaError_t Error = cudaSuccess;
  if (std::optional<Symbol> S = P.symbolOf(*V, P.current(), Error))
    Found = *S;
  return Error;
}

CRSAN_API cudaError_t cudaGetSymbolAddress(void **Address, const void *Host) {
  return enterDevice([&](Process &P) {
    Symbol S;
    cudaError_t Error = findSymbol(P, Host, S);
    *Address = S.Address;
    return Error;
  });
}

CRSAN_API cudaError_t cudaGetSymbolSize(size_t *Size, const void *Host) {
  return enterDevice([&](Process &P) {
    Symbol S;
    cudaError_t Error = findSymbol(P, Host, S);
    *Size = S.Size;
    return Error;
  });
}

static cudaError_t copySymbol(const char *Name, const void *Host, void *Memory,
                              size_t Size, size_t Offset, bool ToSymbol,
                              cudaMemcpyKind Kind, cudaStream_t Stream,
                              bool IsAsync) {
  return enterDevice([&](Process &P) {
    Symbol S;
    if (cudaError_t Error = findSymbol(P, Host, S); Error != cudaSuccess)
      return Error;
    if (Offset > S.Size || Size > S.Size - Offset)
      return cudaErrorInvalidValue;
    char *Inside = static_cast<char *>(S.Address) + Offset;
    if (Kind == (ToSymbol ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice) ||
        Kind == cudaMemcpyHostToHost)
      return cudaErrorInvalidMemcpyDirection;
    Box B = ToSymbol ? line(Inside, Memory, Size) : line(Memory, Inside, Size);
    return copyBox(P, Name, B, Kind, Stream, IsAsync);
  });
}

CRSAN_API cudaError_t cudaMemcpyToSymbol(const void *Host, const void *From,
                                         size_t Size, size_t Offset,
                                         cudaMemcpyKind Kind) {
  return copySymbol("cudaMemcpyToSymbol", Host, const_cast<void *>(From), Size,
                    Offset, true, Kind, nullptr, false);
}
CRSAN_API cudaError_t cudaMemcpyToSymbol_ptds(const void *Host,
                                              const void *From, size_t Size,
                                              size_t Offset,
                                              cudaMemcpyKind Kind) {
  return copySymbol("cudaMemcpyToSymbol", Host, const_cast<void *>(From), Size,
                    Offset, true, Kind, cudaStreamPerThread, false);
}
CRSAN_API cudaError_t cudaMemcpyToSymbolAsync(const void *Host,
                                              const void *From, size_t Size,
                                              size_t Offset,
                                              cudaMemcpyKind Kind,
                                              cudaStream_t S) {
  return copySymbol("cudaMemcpyToSymbolAsync", Host, const_cast<void *>(From),
                    Size, Offset, true, Kind, S, true);
}
CRSAN_API cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *Host,
                                                   const void *From,
                                                   size_t Size, size_t Offset,
                                                   cudaMemcpyKind Kind,
                                                   cudaStream_t S) {
  return cudaMemcpyToSymbolAsync(Host, From, Size, Offset, Kind, perThread(S));
}
CRSAN_API cudaError_t cudaMemcpyFromSymbol(void *To, const void *Host,
                                           size_t Size, size_t Offset,
                                           cudaMemcpyKind Kind) {
  return copySymbol("cudaMemcpyFromSymbol", Host, To, Size, Offset, false, Kind,
                    nullptr, false);
}
CRSAN_API cudaError_t cudaMemcpyFromSymbol_ptds(void *To, const void *Host,
                                                size_t Size, size_t Offset,
                                                cudaMemcpyKind Kind) {
  return copySymbol("cudaMemcpyFromSymbol", Host, To, Size, Offset, false, Kind,
                    cudaStreamPerThread, false);
}
CRSAN_API cudaError_t cudaMemcpyFromSymbolAsync(void *To, const void *Host,
                                                size_t Size, size_t Offset,
                                                cudaMemcpyKind Kind,
                                                cudaStream_t S) {
  return copySymbol("cudaMemcpyFromSymbolAsync", Host, To, Size, Offset, false,
                    Kind, S, true);
}
CRSAN_API cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *To, const void *Host,
                                                     size_t Size, size_t Offset,
                                                     cudaMemcpyKind Kind,
                                                     cudaStream_t S) {
  return cudaMemcpyFromSymbolAsync(To, Host, Size, Offset, Kind, perThread(S));
}
