// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cudaMemset and its kin.

#include "Copy.h"

#include <cstring>

using namespace crsan::api;

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
    crsan::StreamOperation Told = operationOf(Name, S);
    Told.Writes = memoryOf(B.To, B);
    return P.submit(S, std::move(Op), cudaGraphNodeTypeMemset, Told);
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
