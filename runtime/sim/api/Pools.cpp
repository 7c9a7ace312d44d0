// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory pools, and allocation in the order of a stream.
//
// Memory that is allocated in the order of a stream is there at once, and goes
// when the stream gets to the free. In a capture, both are nodes of the graph
// (GraphMemory.h).

#include "Copy.h"
#include "DeviceMemory.h"
#include "GraphMemory.h"

#include <algorithm>

using namespace crsan::api;

/// The address is there at once, the memory once a launch gets to the node.
static cudaError_t captureAllocation(Process &P, const StreamRef &S,
                                     void **Result, size_t Size,
                                     const CUmemPoolHandle_st &Pool) {
  *Result = nullptr;
  if (!Size)
    return cudaSuccess;
  cudaMemAllocNodeParams Params = {};
  Params.poolProps.allocType = cudaMemAllocationTypePinned;
  Params.poolProps.location.type = cudaMemLocationTypeDevice;
  Params.poolProps.location.id = Pool.On->Ordinal;
  Params.bytesize = Size;
  CUgraphNode_st Node;
  if (cudaError_t Error = makeAllocation(P, *S.Object->Capture, Params,
                                         /*IsCaptured=*/true, Node);
      Error != cudaSuccess)
    return Error;
  *Result = Node.Memory->base();
  const cudaError_t Error =
      P.submit(S, std::move(Node.What), cudaGraphNodeTypeMemAlloc);
  S.Object->Frontier.front()->Memory = std::move(Node.Memory);
  return Error;
}

static cudaError_t allocateAsync(void **Result, size_t Size,
                                 CUmemPoolHandle_st *Pool,
                                 cudaStream_t Handle) {
  return enterDevice([&](Process &P) {
    StreamRef S;
    if (cudaError_t Error = P.resolve(Handle, S); Error != cudaSuccess)
      return Error;
    if (!Pool)
      Pool = S.On->Pool;
    if (!P.Pools.contains(Pool))
      return cudaErrorInvalidValue;
    if (S.Object && S.Object->Capture)
      return captureAllocation(P, S, Result, Size, *Pool);
    return allocateDevice(P, *S.On, Result, Size, Pool);
  });
}

static cudaError_t captureFree(Process &P, const StreamRef &S, void *Base,
                               const crsan::StreamOperation &Told) {
  CUgraphNode_st Node;
  if (cudaError_t Error =
          makeFree(P, *S.Object->Capture, Base, "cudaFreeAsync", Node);
      Error != cudaSuccess)
    return Error;
  const cudaError_t Error = P.submit(S, std::get<HostOp>(std::move(Node.What)),
                                     cudaGraphNodeTypeMemFree, Told);
  S.Object->Frontier.front()->Memory = std::move(Node.Memory);
  return Error;
}

static cudaError_t freeAsync(void *Base, cudaStream_t Handle) {
  return enterDevice([&](Process &P) {
    StreamRef S;
    if (cudaError_t Error = P.resolve(Handle, S); Error != cudaSuccess)
      return Error;
    if (!Base)
      return cudaSuccess;
    Allocation *A = P.findAllocation(Base);
    if (!A || A->Base != Base || A->What != Allocation::Kind::Device ||
        A->IsFreeing)
      return cudaErrorInvalidValue;
    const Box All = line(Base, nullptr, A->Size);
    crsan::StreamOperation Told = operationOf("cudaFreeAsync", S);
    Told.Writes = memoryOf(All.To, All);
    if (S.Object && S.Object->Capture)
      return captureFree(P, S, Base, Told);
    HostOp Op = freeOperation(P, *A, "cudaFreeAsync");
    const std::shared_ptr<GraphMemory> OfGraph = A->OfGraph;
    if (!OfGraph)
      A->IsFreeing = true;
    else
      Op.Run = [&P, OfGraph, End = std::move(Op.Run)] {
        noteFreed(P, *OfGraph);
        End();
      };
    const cudaError_t Error =
        P.submit(S, std::move(Op), cudaGraphNodeTypeMemFree, Told);
    if (OfGraph)
      OfGraph->IsAllocated = false;
    return Error;
  });
}

CRSAN_API cudaError_t cudaMallocAsync(void **Result, size_t Size,
                                      cudaStream_t S) {
  return allocateAsync(Result, Size, nullptr, S);
}
CRSAN_API cudaError_t cudaMallocAsync_ptsz(void **Result, size_t Size,
                                           cudaStream_t S) {
  return allocateAsync(Result, Size, nullptr, perThread(S));
}
CRSAN_API cudaError_t cudaMallocFromPoolAsync(void **Result, size_t Size,
                                              cudaMemPool_t Pool,
                                              cudaStream_t S) {
  return allocateAsync(Result, Size, Pool, S);
}
CRSAN_API cudaError_t cudaMallocFromPoolAsync_ptsz(void **Result, size_t Size,
                                                   cudaMemPool_t Pool,
                                                   cudaStream_t S) {
  return allocateAsync(Result, Size, Pool, perThread(S));
}
CRSAN_API cudaError_t cudaFreeAsync(void *Base, cudaStream_t S) {
  return freeAsync(Base, S);
}
CRSAN_API cudaError_t cudaFreeAsync_ptsz(void *Base, cudaStream_t S) {
  return freeAsync(Base, perThread(S));
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *Pool,
                                                  int Ordinal) {
  return enter([&](Process &P) {
    if (Ordinal < 0 || Ordinal >= P.deviceCount())
      return cudaErrorInvalidDevice;
    *Pool = &P.device(Ordinal).DefaultPool;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *Pool, int Ordinal) {
  return enter([&](Process &P) {
    if (Ordinal < 0 || Ordinal >= P.deviceCount())
      return cudaErrorInvalidDevice;
    *Pool = P.device(Ordinal).Pool;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceSetMemPool(int Ordinal, cudaMemPool_t Pool) {
  return enter([&](Process &P) {
    if (Ordinal < 0 || Ordinal >= P.deviceCount())
      return cudaErrorInvalidDevice;
    if (!P.Pools.contains(Pool))
      return cudaErrorInvalidValue;
    P.device(Ordinal).Pool = Pool;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *Pool,
                                        const cudaMemPoolProps *Props) {
  return enter([&](Process &P) {
    if (!Pool || !Props || Props->location.type != cudaMemLocationTypeDevice ||
        Props->location.id < 0 || Props->location.id >= P.deviceCount())
      return cudaErrorInvalidValue;
    *Pool = new CUmemPoolHandle_st;
    (*Pool)->On = &P.device(Props->location.id);
    P.Pools.insert(*Pool);
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t Pool) {
  return enter([&](Process &P) {
    if (!P.Pools.contains(Pool) || Pool->IsDefault)
      return cudaErrorInvalidValue;
    // Its memory stays until it is freed.
    for (auto &[Base, A] : P.Allocations)
      if (A.Pool == Pool)
        A.Pool = nullptr;
    if (Pool->On->Pool == Pool)
      Pool->On->Pool = &Pool->On->DefaultPool;
    P.Pools.erase(Pool);
    delete Pool;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t Pool, size_t) {
  return enter([&](Process &P) {
    return P.Pools.contains(Pool) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CRSAN_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t Pool,
                                           const cudaMemAccessDesc *, size_t) {
  return cudaMemPoolTrimTo(Pool, 0);
}

CRSAN_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t Pool,
                                              cudaMemPoolAttr Attribute,
                                              void *Value) {
  return enter([&](Process &P) {
    if (!P.Pools.contains(Pool) || !Value)
      return cudaErrorInvalidValue;
    if (Attribute == cudaMemPoolAttrReleaseThreshold)
      Pool->ReleaseThreshold = *static_cast<uint64_t *>(Value);
    if (Attribute == cudaMemPoolAttrUsedMemHigh ||
        Attribute == cudaMemPoolAttrReservedMemHigh)
      Pool->UsedHigh = Pool->Used;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t Pool,
                                              cudaMemPoolAttr Attribute,
                                              void *Value) {
  return enter([&](Process &P) {
    if (!P.Pools.contains(Pool) || !Value)
      return cudaErrorInvalidValue;
    auto *Wide = static_cast<uint64_t *>(Value);
    switch (int(Attribute)) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      *static_cast<int *>(Value) = 1;
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
      *Wide = Pool->ReleaseThreshold;
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      *Wide = Pool->Used;
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      *Wide = Pool->UsedHigh;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
    }
  });
}
