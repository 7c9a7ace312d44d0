//===- MemoryCalls.cpp - What the program allocates and frees -------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arrays are left out: kernels reach them through textures and surfaces only.
//
//===----------------------------------------------------------------------===//

#include "cupti/MemoryCalls.h"

#include "common/Driver.h"
#include "session/Session.h"

namespace crsan {

#define CBID(Name) CUPTI_DRIVER_TRACE_CBID_##Name
static constexpr CUpti_driver_api_trace_cbid Calls[] = {
    CBID(cuMemAlloc_v2),
    CBID(cuMemAllocPitch_v2),
    CBID(cuMemAllocManaged),
    CBID(cuMemAllocAsync),
    CBID(cuMemAllocAsync_ptsz),
    CBID(cuMemAllocFromPoolAsync),
    CBID(cuMemAllocFromPoolAsync_ptsz),
    CBID(cuMemHostAlloc),
    CBID(cuMemAllocHost_v2),
    CBID(cuMemHostRegister),
    CBID(cuMemHostRegister_v2),
    CBID(cuMemCreate),
    CBID(cuMemMap),
    CBID(cuIpcOpenMemHandle),
    CBID(cuIpcOpenMemHandle_v2),
    CBID(cuGraphAddMemAllocNode),
    CBID(cuMemFree_v2),
    CBID(cuMemFreeAsync),
    CBID(cuMemFreeAsync_ptsz),
    CBID(cuMemFreeHost),
    CBID(cuMemHostUnregister),
    CBID(cuMemUnmap),
    CBID(cuIpcCloseMemHandle),
};

std::span<const CUpti_driver_api_trace_cbid> memoryCalls() { return Calls; }

CUstream memoryStreamOf(CUpti_CallbackId Id, const void *Params) {
  switch (Id) {
  case CBID(cuMemAllocAsync):
  case CBID(cuMemAllocAsync_ptsz):
    return static_cast<const cuMemAllocAsync_params *>(Params)->hStream;
  case CBID(cuMemAllocFromPoolAsync):
  case CBID(cuMemAllocFromPoolAsync_ptsz):
    return static_cast<const cuMemAllocFromPoolAsync_params *>(Params)->hStream;
  case CBID(cuMemFreeAsync):
  case CBID(cuMemFreeAsync_ptsz):
    return static_cast<const cuMemFreeAsync_params *>(Params)->hStream;
  default:
    return nullptr;
  }
}

/// Device memory that a call asks for, or 0.
static size_t sizeAsked(CUpti_CallbackId Id, const void *Params) {
  switch (Id) {
  case CBID(cuMemAlloc_v2):
  case CBID(cuMemAllocAsync):
  case CBID(cuMemAllocAsync_ptsz):
  case CBID(cuMemAllocFromPoolAsync):
  case CBID(cuMemAllocFromPoolAsync_ptsz):
    // All begin alike.
    return static_cast<const cuMemAlloc_v2_params *>(Params)->bytesize;
  case CBID(cuMemAllocPitch_v2): {
    const auto *P = static_cast<const cuMemAllocPitch_v2_params *>(Params);
    return P->WidthInBytes * P->Height;
  }
  case CBID(cuMemCreate):
    return static_cast<const cuMemCreate_params *>(Params)->size;
  default:
    return 0;
  }
}

static size_t sizeOf(CUdeviceptr Address) {
  Driver &D = theDriver();
  size_t Size = 0;
  if (!D.cuMemGetAddressRange ||
      D.cuMemGetAddressRange(nullptr, &Size, Address) != CUDA_SUCCESS)
    return 0;
  return Size;
}

/// What a stream capture frees, each launch of the graph uses again.
static bool isCapturing(CUstream Stream) {
  Driver &D = theDriver();
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  return D.cuStreamIsCapturing &&
         D.cuStreamIsCapturing(Stream, &Status) == CUDA_SUCCESS &&
         Status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static void onSuccess(Session &S, CUpti_CallbackId Id, const void *Params,
                      CUcontext Ctx) {
  // With unified addresses the host's are the device's.
  auto Address = [](const void *P) { return reinterpret_cast<uint64_t>(P); };
  switch (Id) {
  case CBID(cuMemAlloc_v2):
  case CBID(cuMemAllocAsync):
  case CBID(cuMemAllocAsync_ptsz):
  case CBID(cuMemAllocFromPoolAsync):
  case CBID(cuMemAllocFromPoolAsync_ptsz): {
    const auto *P = static_cast<const cuMemAlloc_v2_params *>(Params);
    return S.allocated(Ctx, *P->dptr, P->bytesize,
                       Id == CBID(cuMemAlloc_v2) ? "cudaMalloc"
                                                 : "cudaMallocAsync");
  }
  case CBID(cuMemAllocPitch_v2): {
    const auto *P = static_cast<const cuMemAllocPitch_v2_params *>(Params);
    return S.allocated(Ctx, *P->dptr, *P->pPitch * P->Height,
                       "cudaMallocPitch");
  }
  case CBID(cuMemAllocManaged): {
    const auto *P = static_cast<const cuMemAllocManaged_params *>(Params);
    return S.allocated(nullptr, *P->dptr, P->bytesize, "cudaMallocManaged");
  }
  case CBID(cuMemHostAlloc):
  case CBID(cuMemAllocHost_v2): {
    const auto *P = static_cast<const cuMemAllocHost_v2_params *>(Params);
    return S.allocated(nullptr, Address(*P->pp), P->bytesize, "cudaMallocHost");
  }
  case CBID(cuMemHostRegister):
  case CBID(cuMemHostRegister_v2): {
    const auto *P = static_cast<const cuMemHostRegister_v2_params *>(Params);
    return S.allocated(nullptr, Address(P->p), P->bytesize, "cudaHostRegister");
  }
  case CBID(cuMemMap): {
    const auto *P = static_cast<const cuMemMap_params *>(Params);
    return S.allocated(Ctx, P->ptr, P->size, "cuMemMap");
  }
  case CBID(cuIpcOpenMemHandle):
  case CBID(cuIpcOpenMemHandle_v2): {
    const auto *P = static_cast<const cuIpcOpenMemHandle_v2_params *>(Params);
    return S.allocated(Ctx, *P->pdptr, sizeOf(*P->pdptr),
                       "cudaIpcOpenMemHandle");
  }
  case CBID(cuGraphAddMemAllocNode): {
    const auto *P = static_cast<const cuGraphAddMemAllocNode_params *>(Params);
    return S.allocated(Ctx, P->nodeParams->dptr, P->nodeParams->bytesize,
                       "a node of a graph");
  }
  default:
    return;
  }
}

/// A call that frees memory begins. None: the call frees nothing now.
static FreeCall beginFree(Session &S, CUpti_CallbackId Id, const void *Params) {
  switch (Id) {
  case CBID(cuMemFree_v2):
  case CBID(cuIpcCloseMemHandle):
    return S.freeing(static_cast<const cuMemFree_v2_params *>(Params)->dptr);
  case CBID(cuMemFreeAsync):
  case CBID(cuMemFreeAsync_ptsz): {
    const auto *P = static_cast<const cuMemFreeAsync_params *>(Params);
    return isCapturing(P->hStream) ? FreeCall::None : S.freeing(P->dptr);
  }
  case CBID(cuMemFreeHost):
  case CBID(cuMemHostUnregister):
    return S.freeing(reinterpret_cast<uint64_t>(
        static_cast<const cuMemFreeHost_params *>(Params)->p));
  case CBID(cuMemUnmap): {
    const auto *P = static_cast<const cuMemUnmap_params *>(Params);
    return S.unmapping(P->ptr, P->size);
  }
  default:
    return FreeCall::None;
  }
}

static void endFree(Session &S, CUpti_CallbackId Id, FreeCall Call,
                    CUresult Result) {
  if (Result != CUDA_SUCCESS)
    return S.freeFailed(Call);
  if (Id == CBID(cuMemFreeAsync) || Id == CBID(cuMemFreeAsync_ptsz))
    return S.freedByStream(Call);
  S.freed(Call);
}

void onMemoryCall(Session &S, CUpti_CallbackId Id,
                  const CUpti_CallbackData &Call, CUcontext Ctx) {
  const void *Params = Call.functionParams;
  if (Call.callbackSite == CUPTI_API_ENTER) {
    if (size_t Size = sizeAsked(Id, Params); Size && Ctx)
      S.allocating(Ctx, Size);
    *Call.correlationData = uint64_t(beginFree(S, Id, Params));
    return;
  }
  auto Result = *static_cast<const CUresult *>(Call.functionReturnValue);
  if (FreeCall Free{*Call.correlationData}; Free != FreeCall::None)
    return endFree(S, Id, Free, Result);
  if (Result == CUDA_SUCCESS)
    onSuccess(S, Id, Params, Ctx);
  else if (Result == CUDA_ERROR_OUT_OF_MEMORY)
    S.allocationFailed(Ctx);
}
#undef CBID

} // namespace crsan
