// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that copy or fill.

#include "cupti/OperationCalls.h"

#include "cupti/StreamCalls.h"
#include "session/Session.h"

namespace crsan {

using Kind = OperationMemory::Kind;

void operation(const DriverCall &C, const StreamOperation &Op,
               CUstream Stream) {
  const CUcontext Ctx = C.contextOf(Stream);
  if (C.isEnter()) {
    C.kept() = C.S.operating(Ctx, Op);
    return;
  }
  const bool HasFailed = C.result() != CUDA_SUCCESS;
  C.S.operated(Ctx, Op, C.kept(), HasFailed);
  if (HasFailed)
    return;
  // A call that copies from the host may be over before the copy is.
  if (Op.Waits && Op.Writes.What == Kind::Host)
    defaultDone(C);
  else
    given(C, Stream, /*Kernel=*/nullptr);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static OperationMemory row(Kind What, uint64_t Base, uint64_t Bytes) {
  OperationMemory M;
  M.What = What;
  M.Base = Base;
  M.Width = Bytes;
  return M;
}

OperationMemory deviceRow(CUdeviceptr Base, uint64_t Bytes) {
  return row(Kind::Device, Base, Bytes);
}
OperationMemory hostRow(const void *Base, uint64_t Bytes) {
  return row(Kind::Host, addressOf(Base), Bytes);
}
OperationMemory eitherRow(CUdeviceptr Base, uint64_t Bytes) {
  return row(Kind::Either, Base, Bytes);
}

OperationMemory devicePlane(CUdeviceptr Base, uint64_t Pitch, uint64_t Width,
                            uint64_t Height) {
  OperationMemory M = deviceRow(Base, Width);
  M.Height = Height;
  M.Pitch = Pitch;
  return M;
}

namespace {
/// One side of a copy of a box, as the driver describes it.
struct BoxSide {
  CUmemorytype Type;
  const void *Host;
  CUdeviceptr Device;
  uint64_t Pitch, Height; ///< Of the memory.
  uint64_t X, Y, Z;       ///< Where the box begins.
};
} // namespace

static OperationMemory boxOf(const BoxSide &S, uint64_t Width, uint64_t Height,
                             uint64_t Depth) {
  OperationMemory M;
  M.Width = Width;
  M.Height = Height;
  M.Depth = Depth;
  M.Pitch = S.Pitch ? S.Pitch : Width;
  M.Slice = M.Pitch * S.Height;
  switch (S.Type) {
  case CU_MEMORYTYPE_HOST:
    M.What = Kind::Host;
    M.Base = addressOf(S.Host);
    break;
  case CU_MEMORYTYPE_DEVICE:
    M.What = Kind::Device;
    M.Base = S.Device;
    break;
  case CU_MEMORYTYPE_UNIFIED:
    M.What = Kind::Either;
    M.Base = S.Device;
    break;
  default: // An array.
    return M;
  }
  M.Base += S.Z * M.Slice + S.Y * M.Pitch + S.X;
  return M;
}

//===----------------------------------------------------------------------===//
// Copies and fills
//===----------------------------------------------------------------------===//

void copyCall(const DriverCall &C, const char *Name, const OperationMemory &To,
              const OperationMemory &From, CUstream Stream, bool Waits) {
  StreamOperation Op = C.operation(Name, Stream);
  Op.Writes = To;
  Op.Reads = From;
  // A copy within the device's memory is under way when the call returns.
  Op.Waits = Waits && !(To.What == Kind::Device && From.What == Kind::Device);
  operation(C, Op, Stream);
}

void copyCall(const DriverCall &C, const char *Name, const CUDA_MEMCPY2D *Box,
              CUstream Stream, bool Waits) {
  if (!Box)
    return;
  const CUDA_MEMCPY2D &B = *Box;
  const BoxSide To{B.dstMemoryType, B.dstHost, B.dstDevice,
                   B.dstPitch,      0,         B.dstXInBytes,
                   B.dstY,          0};
  const BoxSide From{B.srcMemoryType, B.srcHost, B.srcDevice,
                     B.srcPitch,      0,         B.srcXInBytes,
                     B.srcY,          0};
  copyCall(C, Name, boxOf(To, B.WidthInBytes, B.Height, 1),
           boxOf(From, B.WidthInBytes, B.Height, 1), Stream, Waits);
}

template <typename Description>
static void copyBox(const DriverCall &C, const char *Name,
                    const Description *Box, CUstream Stream, bool Waits) {
  if (!Box)
    return;
  const Description &B = *Box;
  const BoxSide To{B.dstMemoryType, B.dstHost,     B.dstDevice, B.dstPitch,
                   B.dstHeight,     B.dstXInBytes, B.dstY,      B.dstZ};
  const BoxSide From{B.srcMemoryType, B.srcHost,     B.srcDevice, B.srcPitch,
                     B.srcHeight,     B.srcXInBytes, B.srcY,      B.srcZ};
  copyCall(C, Name, boxOf(To, B.WidthInBytes, B.Height, B.Depth),
           boxOf(From, B.WidthInBytes, B.Height, B.Depth), Stream, Waits);
}

void copyCall(const DriverCall &C, const char *Name, const CUDA_MEMCPY3D *Box,
              CUstream Stream, bool Waits) {
  copyBox(C, Name, Box, Stream, Waits);
}
void copyCall(const DriverCall &C, const char *Name,
              const CUDA_MEMCPY3D_PEER *Box, CUstream Stream, bool Waits) {
  copyBox(C, Name, Box, Stream, Waits);
}

void fillCall(const DriverCall &C, const char *Name, const OperationMemory &To,
              CUstream Stream) {
  StreamOperation Op = C.operation(Name, Stream);
  Op.Writes = To;
  operation(C, Op, Stream);
}

} // namespace crsan
