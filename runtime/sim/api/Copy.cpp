// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies.
//
// Every copy is a box of bytes: rows of `Width`, `Height` of them a slice,
// `Depth` slices. It runs in stream order; how long the call waits depends on
// the memory, as the runtime's documentation says (API synchronization
// behavior): copies that touch pageable memory are over when the call returns,
// or have taken the bytes by then.

#include "Copy.h"
#include "session/Session.h"

#include <cstring>

using namespace crsan::api;

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

crsan::StreamOperation crsan::api::operationOf(const char *Name,
                                               const StreamRef &S) {
  return {.Name = Name, .Stream = idOf(S), .Handle = S.Object};
}

crsan::OperationMemory crsan::api::memoryOf(const Side &S, const Box &B) {
  OperationMemory M;
  M.What = OperationMemory::Kind::Either;
  M.Base = uint64_t(S.Base);
  M.Width = B.Width;
  M.Height = B.Height;
  M.Depth = B.Depth;
  M.Pitch = S.Pitch;
  M.Slice = S.Slice;
  return M;
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

cudaError_t crsan::api::copyBox(Process &P, const char *Name, const Box &B,
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
  if (IsCaptured && !IsAsync)
    return cudaErrorStreamCaptureUnsupported;
  Home To = homeOf(P, B.To.Base), From = homeOf(P, B.From.Base);
  bool Stages =
      IsAsync && !IsCaptured && From == Home::Pageable && To != Home::Pageable;
  bool Waits = IsAsync ? To == Home::Pageable
                       : !(To == Home::Device && From == Home::Device);
  crsan::StreamOperation Told = operationOf(Name, S);
  Told.Writes = memoryOf(B.To, B);
  Told.Reads = memoryOf(B.From, B);
  Told.Waits = Waits;
  cudaError_t Error =
      P.submit(S, copyOperation(Name, B, Stages ? stage(B) : nullptr),
               cudaGraphNodeTypeMemcpy, Told);
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
// Nodes of graphs
//===----------------------------------------------------------------------===//

cudaError_t crsan::api::makeCopy(Process &P, const cudaMemcpy3DParms &Params,
                                 HostOp &Op) {
  Box B = boxOf(Params);
  cudaError_t Error = checkBox(P, B, Params.kind);
  Op = copyOperation("cudaGraphLaunch (copy)", B, nullptr);
  return Error;
}
