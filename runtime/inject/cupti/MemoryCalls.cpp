// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that allocate and free memory.

#include "cupti/MemoryCalls.h"

#include "common/Driver.h"
#include "session/Session.h"

namespace crsan {

void allocating(const DriverCall &C, size_t Bytes, CUstream Stream) {
  const CUcontext Ctx = C.contextOf(Stream);
  if (Bytes && Ctx)
    C.S.allocating(Ctx, Bytes);
}

void allocated(const DriverCall &C, uint64_t Base, size_t Bytes,
               const char *How, CUstream Stream) {
  C.S.allocated(C.contextOf(Stream), Base, Bytes, How);
}

size_t sizeOfAllocation(CUdeviceptr Address) {
  Driver &D = theDriver();
  size_t Size = 0;
  if (!D.cuMemGetAddressRange ||
      D.cuMemGetAddressRange(nullptr, &Size, Address) != CUDA_SUCCESS)
    return 0;
  return Size;
}

void freeing(const DriverCall &C, FreeCall Call) { C.kept() = uint64_t(Call); }

void freeEnds(const DriverCall &C) {
  const FreeCall Call{C.kept()};
  if (C.result() == CUDA_SUCCESS)
    C.S.freed(Call);
  else
    C.S.freeFailed(Call);
}

/// Each launch of a graph uses again what its capture frees.
static bool isCapturing(CUstream Stream) {
  Driver &D = theDriver();
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  return D.cuStreamIsCapturing &&
         D.cuStreamIsCapturing(Stream, &Status) == CUDA_SUCCESS &&
         Status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void freeingByStream(const DriverCall &C, uint64_t Base, CUstream Stream) {
  freeing(C, isCapturing(Stream) ? FreeCall::None : C.S.freeing(Base));
}

void freeByStreamEnds(const DriverCall &C) {
  const FreeCall Call{C.kept()};
  if (C.result() == CUDA_SUCCESS)
    C.S.freedByStream(Call);
  else
    C.S.freeFailed(Call);
}

} // namespace crsan
