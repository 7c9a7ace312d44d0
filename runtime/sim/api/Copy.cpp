//===- Copy.cpp - Copies and fills ----------------------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every copy is a box of bytes: rows of `Width`, `Height` of them a slice,
// `Depth` slices. It runs in stream order; how long the call waits depends on
// the memory, as the runtime's documentation says (API synchronization
// behavior): copies that touch pageable memory are over when the call returns,
// or have taken the bytes by then.
//
//===----------------------------------------------------------------------===//

#include "Copy.h"
#include "session/Session.h"

#include <cstring>

using namespace crsan::api;

namespace {

struct Side {
  char *Base = nullptr;
  size_t Pitch = 0, Slice = 0;
};

struct Box {
  Side To, From;
  size_t Width = 0, Height = 1, Depth = 1;

  bool isEmpty() const { return !Width || !Height || !Depth; }
  size_t extent(const Side &S) const {
    return (Depth - 1) * S.Slice + (Height - 1) * S.Pitch + Width;
  }
  template <typename Row> void forEachRow(Row R) const {
    for (size_t Z = 0; Z < Depth; ++Z)
      for (size_t Y = 0; Y < Height; ++Y)
        R(To.Base + Z * To.Slice + Y * To.Pitch,
          From.Base + Z * From.Slice + Y * From.Pitch);
  }
};

} // namespace

static Box line(void *To, const void *From, size_t Size) {
  Box B;
  B.To.Base = static_cast<char *>(To);
  B.From.Base = const_cast<char *>(static_cast<const char *>(From));
  B.Width = Size;
  return B;
}

static Box plane(void *To, size_t ToPitch, const void *From, size_t FromPitch,
                 size_t Width, size_t Height) {
  Box B = line(To, From, Width);
  B.To.Pitch = ToPitch;
  B.From.Pitch = FromPitch;
  B.Height = Height;
  return B;
}

/// What the rules of waiting look at.
enum class Home { Device, Managed, Pinned, Pageable };

static bool isInModule(Process &P, const void *Address, size_t Size) {
  for (int I = 0; I < P.deviceCount(); ++I)
    if (auto Range = P.device(I).M.rangeOf(Address)) {
      auto *End = static_cast<const char *>(Range->Begin) + Range->Size;
      return static_cast<const char *>(Address) + Size <= End;
    }
  return false;
}

static Home homeOf(Process &P, const void *Address) {
  if (Allocation *A = P.findAllocation(Address))
    return A->What == Allocation::Kind::Device    ? Home::Device
           : A->What == Allocation::Kind::Managed ? Home::Managed
                                                  : Home::Pinned;
  return isInModule(P, Address, 0) ? Home::Device : Home::Pageable;
}

/// Whether the side lies in memory that belongs to the device's world, whole.
static bool fits(Process &P, const Side &S, size_t Extent) {
  if (Allocation *A = P.findAllocation(S.Base))
    return S.Base + Extent <= static_cast<char *>(A->Base) + A->Size;
  return isInModule(P, S.Base, Extent);
}

static cudaError_t checkBox(Process &P, const Box &B, cudaMemcpyKind Kind) {
  if (Kind < cudaMemcpyHostToHost || Kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (B.isEmpty())
    return cudaSuccess;
  if (!B.To.Base || !B.From.Base)
    return cudaErrorInvalidValue;
  if (B.Height > 1 && (B.To.Pitch < B.Width || B.From.Pitch < B.Width))
    return cudaErrorInvalidPitchValue;
  bool ToDevice =
      Kind == cudaMemcpyHostToDevice || Kind == cudaMemcpyDeviceToDevice ||
      (Kind == cudaMemcpyDefault && homeOf(P, B.To.Base) != Home::Pageable);
  bool FromDevice =
      Kind == cudaMemcpyDeviceToHost || Kind == cudaMemcpyDeviceToDevice ||
      (Kind == cudaMemcpyDefault && homeOf(P, B.From.Base) != Home::Pageable);
  if ((ToDevice && !fits(P, B.To, B.extent(B.To))) ||
      (FromDevice && !fits(P, B.From, B.extent(B.From))))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

static HostOp copyOperation(const char *Name, const Box &B,
                            std::shared_ptr<std::vector<char>> Staged) {
  HostOp Op;
  Op.Name = Name;
  B.forEachRow([&](char *To, char *From) {
    Op.Writes.push_back({To, B.Width});
    if (!Staged)
      Op.Reads.push_back({From, B.Width});
  });
  Op.Run = [B, Staged] {
    const char *Next = Staged ? Staged->data() : nullptr;
    B.forEachRow([&](char *To, char *From) {
      std::memmove(To, Next ? Next : From, B.Width);
      if (Next)
        Next += B.Width;
    });
  };
  return Op;
}

/// The bytes as they are now: the caller may change them when we return.
static std::shared_ptr<std::vector<char>> stage(const Box &B) {
  auto Bytes = std::make_shared<std::vector<char>>();
  Bytes->reserve(B.Width * B.Height * B.Depth);
  B.forEachRow([&](char *, char *From) {
    Bytes->insert(Bytes->end(), From, From + B.Width);
  });
  return Bytes;
}

static cudaError_t copyBox(Process &P, const char *Name, const Box &B,
                           cudaMemcpyKind Kind, cudaStream_t Handle,
                           bool IsAsync) {
  StreamRef S;
  if (cudaError_t Error = P.resolve(Handle, S); Error != cudaSuccess)
    return Error;
  if (S.On->Sticky != cudaSuccess)
    return S.On->Sticky;
  if (cudaError_t Error = checkBox(P, B, Kind);
      Error != cudaSuccess || B.isEmpty())
    return Error;
  bool IsCaptured = S.Object && S.Object->Capture;
  if (!IsAsync && P.session())
    P.session()->ordering().cut();
  if (IsCaptured && !IsAsync)
    return cudaErrorStreamCaptureUnsupported;
  Home To = homeOf(P, B.To.Base), From = homeOf(P, B.From.Base);
  bool Stages =
      IsAsync && !IsCaptured && From == Home::Pageable && To != Home::Pageable;
  cudaError_t Error =
      P.submit(S, copyOperation(Name, B, Stages ? stage(B) : nullptr),
               cudaGraphNodeTypeMemcpy);
  bool Waits = IsAsync ? To == Home::Pageable
                       : !(To == Home::Device && From == Home::Device);
  if (Error == cudaSuccess && Waits && !IsCaptured)
    Error = P.wait(*S.On, Machine::Wait::Stream, S.Handle);
  return Error;
}

static cudaError_t copy(const char *Name, const Box &B, cudaMemcpyKind Kind,
                        cudaStream_t S, bool IsAsync) {
  return enterDevice(
      [&](Process &P) { return copyBox(P, Name, B, Kind, S, IsAsync); });
}

//===----------------------------------------------------------------------===//
// One and two dimensions
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaMemcpy(void *To, const void *From, size_t Size,
                                 cudaMemcpyKind Kind) {
  return copy("cudaMemcpy", line(To, From, Size), Kind, nullptr, false);
}
CRSAN_API cudaError_t cudaMemcpy_ptds(void *To, const void *From, size_t Size,
                                      cudaMemcpyKind Kind) {
  return copy("cudaMemcpy", line(To, From, Size), Kind, cudaStreamPerThread,
              false);
}
CRSAN_API cudaError_t cudaMemcpyAsync(void *To, const void *From, size_t Size,
                                      cudaMemcpyKind Kind, cudaStream_t S) {
  return copy("cudaMemcpyAsync", line(To, From, Size), Kind, S, true);
}
CRSAN_API cudaError_t cudaMemcpyAsync_ptsz(void *To, const void *From,
                                           size_t Size, cudaMemcpyKind Kind,
                                           cudaStream_t S) {
  return copy("cudaMemcpyAsync", line(To, From, Size), Kind, perThread(S),
              true);
}
CRSAN_API cudaError_t cudaMemcpyPeer(void *To, int, const void *From, int,
                                     size_t Size) {
  return copy("cudaMemcpyPeer", line(To, From, Size), cudaMemcpyDefault,
              nullptr, false);
}
CRSAN_API cudaError_t cudaMemcpyPeerAsync(void *To, int, const void *From, int,
                                          size_t Size, cudaStream_t S) {
  return copy("cudaMemcpyPeerAsync", line(To, From, Size), cudaMemcpyDefault, S,
              true);
}
CRSAN_API cudaError_t cudaMemcpy2D(void *To, size_t ToPitch, const void *From,
                                   size_t FromPitch, size_t Width,
                                   size_t Height, cudaMemcpyKind Kind) {
  return copy("cudaMemcpy2D",
              plane(To, ToPitch, From, FromPitch, Width, Height), Kind, nullptr,
              false);
}
CRSAN_API cudaError_t cudaMemcpy2D_ptds(void *To, size_t ToPitch,
                                        const void *From, size_t FromPitch,
                                        size_t Width, size_t Height,
                                        cudaMemcpyKind Kind) {
  return copy("cudaMemcpy2D",
              plane(To, ToPitch, From, FromPitch, Width, Height), Kind,
              cudaStreamPerThread, false);
}
CRSAN_API cudaError_t cudaMemcpy2DAsync(void *To, size_t ToPitch,
                                        const void *From, size_t FromPitch,
                                        size_t Width, size_t Height,
                                        cudaMemcpyKind Kind, cudaStream_t S) {
  return copy("cudaMemcpy2DAsync",
              plane(To, ToPitch, From, FromPitch, Width, Height), Kind, S,
              true);
}
CRSAN_API cudaError_t cudaMemcpy2DAsync_ptsz(void *To, size_t ToPitch,
                                             const void *From, size_t FromPitch,
                                             size_t Width, size_t Height,
                                             cudaMemcpyKind Kind,
                                             cudaStream_t S) {
  return cudaMemcpy2DAsync(To, ToPitch, From, FromPitch, Width, Height, Kind,
                           perThread(S));
}

//===----------------------------------------------------------------------===//
// Three dimensions
//===----------------------------------------------------------------------===//

static Side sideOf(const cudaPitchedPtr &P, const cudaPos &At) {
  Side S;
  S.Pitch = P.pitch;
  S.Slice = P.pitch * P.ysize;
  S.Base = static_cast<char *>(P.ptr);
  if (S.Base)
    S.Base += At.z * S.Slice + At.y * S.Pitch + At.x;
  return S;
}

static Box boxOf(const cudaMemcpy3DParms &Params) {
  if (Params.srcArray || Params.dstArray)
    stop("cudaMemcpy3D with a CUDA array is not supported");
  Box B;
  B.To = sideOf(Params.dstPtr, Params.dstPos);
  B.From = sideOf(Params.srcPtr, Params.srcPos);
  B.Width = Params.extent.width;
  B.Height = Params.extent.height;
  B.Depth = Params.extent.depth;
  return B;
}

static cudaError_t copy3D(const cudaMemcpy3DParms *Params, cudaStream_t S,
                          bool IsAsync) {
  return copy(IsAsync ? "cudaMemcpy3DAsync" : "cudaMemcpy3D", boxOf(*Params),
              Params->kind, S, IsAsync);
}

CRSAN_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *Params) {
  return copy3D(Params, nullptr, false);
}
CRSAN_API cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms *Params) {
  return copy3D(Params, cudaStreamPerThread, false);
}
CRSAN_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *Params,
                                        cudaStream_t S) {
  return copy3D(Params, S, true);
}
CRSAN_API cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms *Params,
                                             cudaStream_t S) {
  return copy3D(Params, perThread(S), true);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

static cudaError_t fill(const char *Name, const Box &B, int Value,
                        cudaStream_t Handle) {
  return enterDevice([&](Process &P) {
    StreamRef S;
    if (cudaError_t Error = P.resolve(Handle, S); Error != cudaSuccess)
      return Error;
    if (B.isEmpty())
      return cudaSuccess;
    if (!B.To.Base || !fits(P, B.To, B.extent(B.To)))
      return cudaErrorInvalidValue;
    if (B.Height > 1 && B.To.Pitch < B.Width)
      return cudaErrorInvalidPitchValue;
    HostOp Op;
    Op.Name = Name;
    B.forEachRow([&](char *To, char *) { Op.Writes.push_back({To, B.Width}); });
    Op.Run = [B, Value] {
      B.forEachRow([&](char *To, char *) { std::memset(To, Value, B.Width); });
    };
    return P.submit(S, std::move(Op), cudaGraphNodeTypeMemset);
  });
}

CRSAN_API cudaError_t cudaMemset(void *To, int Value, size_t Size) {
  return fill("cudaMemset", line(To, nullptr, Size), Value, nullptr);
}
CRSAN_API cudaError_t cudaMemset_ptds(void *To, int Value, size_t Size) {
  return fill("cudaMemset", line(To, nullptr, Size), Value,
              cudaStreamPerThread);
}
CRSAN_API cudaError_t cudaMemsetAsync(void *To, int Value, size_t Size,
                                      cudaStream_t S) {
  return fill("cudaMemsetAsync", line(To, nullptr, Size), Value, S);
}
CRSAN_API cudaError_t cudaMemsetAsync_ptsz(void *To, int Value, size_t Size,
                                           cudaStream_t S) {
  return fill("cudaMemsetAsync", line(To, nullptr, Size), Value, perThread(S));
}
CRSAN_API cudaError_t cudaMemset2D(void *To, size_t Pitch, int Value,
                                   size_t Width, size_t Height) {
  return fill("cudaMemset2D", plane(To, Pitch, nullptr, Pitch, Width, Height),
              Value, nullptr);
}
CRSAN_API cudaError_t cudaMemset2D_ptds(void *To, size_t Pitch, int Value,
                                        size_t Width, size_t Height) {
  return fill("cudaMemset2D", plane(To, Pitch, nullptr, Pitch, Width, Height),
              Value, cudaStreamPerThread);
}
CRSAN_API cudaError_t cudaMemset2DAsync(void *To, size_t Pitch, int Value,
                                        size_t Width, size_t Height,
                                        cudaStream_t S) {
  return fill("cudaMemset2DAsync",
              plane(To, Pitch, nullptr, Pitch, Width, Height), Value, S);
}
CRSAN_API cudaError_t cudaMemset2DAsync_ptsz(void *To, size_t Pitch, int Value,
                                             size_t Width, size_t Height,
                                             cudaStream_t S) {
  return cudaMemset2DAsync(To, Pitch, Value, Width, Height, perThread(S));
}

static Box boxOf(const cudaPitchedPtr &To, const cudaExtent &Extent) {
  Box B;
  B.To = B.From = sideOf(To, {});
  B.Width = Extent.width;
  B.Height = Extent.height;
  B.Depth = Extent.depth;
  return B;
}

CRSAN_API cudaError_t cudaMemset3D(cudaPitchedPtr To, int Value,
                                   cudaExtent Extent) {
  return fill("cudaMemset3D", boxOf(To, Extent), Value, nullptr);
}
CRSAN_API cudaError_t cudaMemset3D_ptds(cudaPitchedPtr To, int Value,
                                        cudaExtent Extent) {
  return fill("cudaMemset3D", boxOf(To, Extent), Value, cudaStreamPerThread);
}
CRSAN_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr To, int Value,
                                        cudaExtent Extent, cudaStream_t S) {
  return fill("cudaMemset3DAsync", boxOf(To, Extent), Value, S);
}
CRSAN_API cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr To, int Value,
                                             cudaExtent Extent,
                                             cudaStream_t S) {
  return fill("cudaMemset3DAsync", boxOf(To, Extent), Value, perThread(S));
}

//===----------------------------------------------------------------------===//
// Nodes of graphs
//===----------------------------------------------------------------------===//

cudaError_t crsan::api::makeCopy(Process &P, const cudaMemcpy3DParms &Params,
                                 HostOp &Op) {
  Box B = boxOf(Params);
  cudaError_t Error = checkBox(P, B, Params.kind);
  Op = copyOperation("cudaGraphLaunch (copy)", B, nullptr);
  return Error;
}

cudaError_t crsan::api::makeFill(Process &P, const cudaMemsetParams &Params,
                                 HostOp &Op) {
  size_t Element = Params.elementSize;
  if (Element != 1 && Element != 2 && Element != 4)
    return cudaErrorInvalidValue;
  Box B = plane(Params.dst, Params.pitch, nullptr, Params.pitch,
                Params.width * Element, Params.height);
  if (B.isEmpty() || !fits(P, B.To, B.extent(B.To)))
    return cudaErrorInvalidValue;
  Op.Name = "cudaGraphLaunch (fill)";
  B.forEachRow([&](char *To, char *) { Op.Writes.push_back({To, B.Width}); });
  Op.Run = [B, Element, Value = Params.value] {
    B.forEachRow([&](char *To, char *) {
      for (size_t At = 0; At < B.Width; At += Element)
        std::memcpy(To + At, &Value, Element);
    });
  };
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

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
