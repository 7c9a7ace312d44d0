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
  const CUcontext Ctx = C.contextOf(Stream);
  C.S.allocated(Ctx, Base, Bytes, How);
  C.S.prepare(Ctx, Ctx == C.Data.context ? C.Data.contextUid : 0);
}

void nodeAdded(const DriverCall &C, const CUgraphNodeParams &Params) {
  switch (int(Params.type)) {
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    allocated(C, Params.alloc.dptr, Params.alloc.bytesize, "a node of a graph");
    return;
  case CU_GRAPH_NODE_TYPE_MEMCPY:
  case CU_GRAPH_NODE_TYPE_MEMSET:
  case CU_GRAPH_NODE_TYPE_MEM_FREE:
    C.S.operatingUnchecked(C.Data.context, NoCheck::Captured);
    return;
  default:
    return;
  }
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

/// How the call's bits are kept: the operation's below the number of the call.
static constexpr unsigned FlagBits = 8;

static StreamOperation freeOperation(const DriverCall &C, uint64_t Base,
                                     CUstream Stream) {
  StreamOperation Op = C.operation("cudaFreeAsync", Stream);
  Op.Writes.What = OperationMemory::Kind::Device;
  Op.Writes.Base = Base;
  return Op;
}

void freeingByStream(const DriverCall &C, uint64_t Base, CUstream Stream) {
  StreamOperation Op = freeOperation(C, Base, Stream);
  Op.Writes.Width = C.S.sizeOf(Base);
  const uint64_t Flags = C.S.operating(C.contextOf(Stream), Op);
  // Each launch of a graph uses again what its capture frees.
  const FreeCall Call =
      isCapturing(C.handleOf(Stream)) ? FreeCall::None : C.S.freeing(Base);
  C.kept() = uint64_t(Call) << FlagBits | Flags;
}

void freeByStreamEnds(const DriverCall &C, uint64_t Base, CUstream Stream) {
  const FreeCall Call{C.kept() >> FlagBits};
  const bool HasFailed = C.result() != CUDA_SUCCESS;
  const uint64_t Flags = C.kept() & ((1u << FlagBits) - 1);
  C.S.operated(C.contextOf(Stream), freeOperation(C, Base, Stream), Flags,
               HasFailed);
  if (HasFailed)
    C.S.freeFailed(Call);
  else
    C.S.freedByStream(Call);
}

} // namespace crsan
