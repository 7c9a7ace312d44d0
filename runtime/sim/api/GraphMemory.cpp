// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that nodes of graphs allocate and free.

#include "GraphMemory.h"

#include "DeviceMemory.h"
#include "SimulatedRun.h"
#include "session/Session.h"

#include <algorithm>

using namespace crsan::api;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static cudaError_t checkParams(const Process &P,
                               const cudaMemAllocNodeParams &Params) {
  const cudaMemPoolProps &Props = Params.poolProps;
  if (Props.location.type == cudaMemLocationTypeHost ||
      Props.location.type == cudaMemLocationTypeHostNuma ||
      Props.location.type == cudaMemLocationTypeHostNumaCurrent ||
      Props.allocType == cudaMemAllocationTypeManaged)
    stop("a node of a graph that allocates memory of the host is not "
         "supported");
  if (Props.handleTypes != cudaMemHandleTypeNone)
    return cudaErrorNotSupported;
  if (!Params.bytesize || Props.allocType != cudaMemAllocationTypePinned ||
      Props.location.type != cudaMemLocationTypeDevice ||
      Props.location.id < 0 || Props.location.id >= P.deviceCount() ||
      (Params.accessDescCount && !Params.accessDescs))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

/// Where the node was made, for reports.
static uint32_t madeHere(const Process &P) {
  return P.run().oracle() ? crsan::callSites().note() : 0;
}

cudaError_t crsan::api::makeAllocation(Process &P, CUgraph_st &Graph,
                                       const cudaMemAllocNodeParams &Params,
                                       bool IsCaptured, CUgraphNode_st &Node) {
  if (cudaError_t Error = checkParams(P, Params); Error != cudaSuccess)
    return Error;
  dropUnusedGraphMemory(P);
  auto M = std::make_shared<GraphMemory>();
  M->Params = Params;
  M->Access.assign(Params.accessDescs,
                   Params.accessDescs + Params.accessDescCount);
  M->Params.accessDescs = M->Access.data();
  M->Owner = &Graph;
  M->IsCaptured = IsCaptured;
  Device &D = P.device(Params.poolProps.location.id);
  if (cudaError_t Error = allocateDevice(P, D, &M->Params.dptr, Params.bytesize,
                                         &D.GraphPool, M);
      Error != cudaSuccess)
    return Error;
  auto &Op = Node.What.emplace<HostOp>();
  Op.Name = IsCaptured ? "cudaMallocAsync" : "cudaGraphLaunch (allocation)";
  Op.MadeAt = madeHere(P);
  // Whoever accesses the memory and is not ordered behind races with it. What
  // frees the memory that an earlier launch has left may not have run yet.
  Op.Writes.push_back({M->base(), M->size()});
  Op.Ready = [M] { return !M->IsThere; };
  Op.Prepare = [&P, M] { P.beginLifetime(*M); };
  Node.Memory = std::move(M);
  return cudaSuccess;
}

static bool frees(const CUgraph_st &Graph, const GraphMemory &M) {
  return std::any_of(
      Graph.Nodes.begin(), Graph.Nodes.end(), [&](const CUgraphNode_st &Node) {
        return Node.Type == cudaGraphNodeTypeMemFree && Node.Memory.get() == &M;
      });
}

cudaError_t crsan::api::makeFree(Process &P, CUgraph_st &Graph, void *Base,
                                 const char *Name, CUgraphNode_st &Node) {
  const Allocation *A = P.findAllocation(Base);
  if (!A || A->Base != Base || !A->OfGraph)
    return cudaErrorInvalidValue;
  GraphMemory &M = *A->OfGraph;
  const bool IsOwner = M.Owner == &Graph;
  if (M.IsFreedByOwner || (IsOwner && M.IsFreedElsewhere) || frees(Graph, M))
    return cudaErrorInvalidValue;
  (IsOwner ? M.IsFreedByOwner : M.IsFreedElsewhere) = true;
  auto &Op = Node.What.emplace<HostOp>(freeOperation(P, *A, Name));
  Op.MadeAt = madeHere(P);
  Node.Memory = A->OfGraph;
  return cudaSuccess;
}

HostOp crsan::api::freeOperation(Process &P, const Allocation &A,
                                 const char *Name) {
  HostOp Op;
  Op.Name = Name;
  // Whoever accesses the memory and is not ordered before races with it.
  Op.Writes.push_back({A.Base, A.Size});
  if (const std::shared_ptr<GraphMemory> &M = A.OfGraph) {
    // One that is not ordered behind the allocation is a race, too.
    Op.Ready = [M] { return M->IsThere; };
    Op.Run = [&P, M] { P.endLifetime(*M); };
  } else {
    Op.Run = [&P, Base = A.Base] { P.dropAllocation(Base); };
  }
  return Op;
}

void crsan::api::noteFreed(Process &P, const GraphMemory &M) {
  if (crsan::Session *S = P.session())
    S->freed(S->freeing(uint64_t(M.base())));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static bool has(const CUgraphExec_st &Exec, cudaGraphNodeType Type,
                const GraphMemory &M) {
  return std::any_of(Exec.Steps.begin(), Exec.Steps.end(),
                     [&](const CUgraphExec_st::Step &Step) {
                       return Step.Type == Type && Step.Memory.get() == &M;
                     });
}

/// Whether the launch may allocate or free what the step does.
static bool isAllowed(Process &P, const CUgraphExec_st &Exec,
                      const CUgraphExec_st::Step &Step) {
  const GraphMemory &M = *Step.Memory;
  const Allocation *A = P.findAllocation(M.base());
  if (!A || A->OfGraph != Step.Memory) // The device was reset.
    return false;
  if (Step.Type == cudaGraphNodeTypeMemAlloc)
    return !M.IsAllocated || Exec.FreesBeforeLaunch;
  return M.IsAllocated || has(Exec, cudaGraphNodeTypeMemAlloc, M);
}

bool crsan::api::mayUseMemory(Process &P, const CUgraphExec_st &Exec) {
  return std::all_of(Exec.Steps.begin(), Exec.Steps.end(),
                     [&](const CUgraphExec_st::Step &Step) {
                       return !Step.Memory || isAllowed(P, Exec, Step);
                     });
}

cudaError_t crsan::api::launchMemory(Process &P, const StreamRef &S,
                                     const CUgraphExec_st &Exec) {
  for (const CUgraphExec_st::Step &Step : Exec.Steps) {
    if (!Step.Memory)
      continue;
    GraphMemory &M = *Step.Memory;
    const bool Allocates = Step.Type == cudaGraphNodeTypeMemAlloc;
    if (Allocates && M.IsAllocated) {
      HostOp Free = freeOperation(P, *P.findAllocation(M.base()),
                                  "cudaGraphLaunch (free)");
      Free.MadeAt = madeHere(P);
      if (cudaError_t Error =
              P.submit(S, std::move(Free), cudaGraphNodeTypeMemFree);
          Error != cudaSuccess)
        return Error;
    }
    M.IsAllocated = Allocates && !has(Exec, cudaGraphNodeTypeMemFree, M);
  }
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

bool crsan::api::usesMemory(const CUgraph_st &Graph) {
  return std::any_of(Graph.Nodes.begin(), Graph.Nodes.end(),
                     [](const CUgraphNode_st &Node) { return !!Node.Memory; });
}

void crsan::api::deleteGraph(Process &P, CUgraph_st *Graph) {
  for (const CUgraphNode_st &Node : Graph->Nodes)
    if (Node.Memory && Node.Memory->Owner == Graph)
      Node.Memory->Owner = nullptr;
  delete Graph;
  dropUnusedGraphMemory(P);
}

void crsan::api::dropUnusedGraphMemory(Process &P) {
  std::vector<const void *> Unused;
  for (const auto &[Base, A] : P.Allocations)
    // Nodes hold it, executable graphs, and operations that are to run.
    if (A.OfGraph && A.OfGraph.use_count() == 1 && !A.OfGraph->IsAllocated &&
        !A.OfGraph->IsThere)
      Unused.push_back(A.Base);
  for (const void *Base : Unused)
    P.dropAllocation(Base);
}

//===----------------------------------------------------------------------===//
// What the program asks of nodes and devices
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaGraphMemAllocNodeGetParams(
    cudaGraphNode_t Node, cudaMemAllocNodeParams *Params) {
  return enter([&](Process &) {
    if (!Node || !Params || Node->Type != cudaGraphNodeTypeMemAlloc)
      return cudaErrorInvalidValue;
    *Params = Node->Memory->Params;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t Node,
                                                    void *Result) {
  return enter([&](Process &) {
    if (!Node || !Result || Node->Type != cudaGraphNodeTypeMemFree)
      return cudaErrorInvalidValue;
    *static_cast<void **>(Result) = Node->Memory->base();
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceGraphMemTrim(int Ordinal) {
  // Nothing is kept that is not used.
  return withDevice(Ordinal, [](Process &, Device &) { return cudaSuccess; });
}

CRSAN_API cudaError_t cudaDeviceGetGraphMemAttribute(
    int Ordinal, cudaGraphMemAttributeType Attribute, void *Value) {
  return withDevice(Ordinal, [&](Process &, Device &D) {
    if (!Value)
      return cudaErrorInvalidValue;
    switch (Attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
    case cudaGraphMemAttrReservedMemCurrent:
      *static_cast<uint64_t *>(Value) = D.GraphPool.Used;
      return cudaSuccess;
    case cudaGraphMemAttrUsedMemHigh:
    case cudaGraphMemAttrReservedMemHigh:
      *static_cast<uint64_t *>(Value) = D.GraphPool.UsedHigh;
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

CRSAN_API cudaError_t cudaDeviceSetGraphMemAttribute(
    int Ordinal, cudaGraphMemAttributeType Attribute, void *Value) {
  return withDevice(Ordinal, [&](Process &, Device &D) {
    const bool IsHigh = Attribute == cudaGraphMemAttrUsedMemHigh ||
                        Attribute == cudaGraphMemAttrReservedMemHigh;
    if (!IsHigh || !Value || *static_cast<uint64_t *>(Value) != 0)
      return cudaErrorInvalidValue;
    D.GraphPool.UsedHigh = D.GraphPool.Used;
    return cudaSuccess;
  });
}
