// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs, built and launched.
//
// A node holds what a stream would be given. At a launch each node has a stream
// of its own, and events order them: what the graph leaves open, the schedule
// decides.

#include "Copy.h"
#include "GraphMemory.h"
#include "HostCode.h"
#include "Launch.h"
#include "session/Session.h"

#include <algorithm>
#include <unordered_map>

using namespace crsan::api;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaGraphCreate(cudaGraph_t *Graph, unsigned Flags) {
  return enter([&](Process &P) {
    if (!Graph || Flags)
      return cudaErrorInvalidValue;
    *Graph = new CUgraph_st;
    P.Graphs.insert(*Graph);
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaGraphDestroy(cudaGraph_t Graph) {
  return enter([&](Process &P) {
    if (!P.Graphs.erase(Graph))
      return cudaErrorInvalidValue;
    deleteGraph(P, Graph);
    return cudaSuccess;
  });
}

/// Adds a node; Make fills in what it does, in the lock.
template <typename Maker>
static cudaError_t addNode(cudaGraphNode_t *Result, cudaGraph_t Graph,
                           const cudaGraphNode_t *After, size_t Count,
                           cudaGraphNodeType Type, Maker Make) {
  return enterDevice([&](Process &P) {
    if (!Result || !P.Graphs.contains(Graph) || (Count && !After))
      return cudaErrorInvalidValue;
    CUgraphNode_st Node;
    Node.Home = Graph;
    Node.Type = Type;
    Node.After.assign(After, After + Count);
    if (cudaError_t Error = Make(P, Node); Error != cudaSuccess)
      return Error;
    *Result = &Graph->Nodes.emplace_back(std::move(Node));
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *Result,
                                            cudaGraph_t Graph,
                                            const cudaGraphNode_t *After,
                                            size_t Count) {
  return addNode(Result, Graph, After, Count, cudaGraphNodeTypeEmpty,
                 [](Process &, CUgraphNode_st &) { return cudaSuccess; });
}

CRSAN_API cudaError_t cudaGraphAddKernelNode(
    cudaGraphNode_t *Result, cudaGraph_t Graph, const cudaGraphNode_t *After,
    size_t Count, const cudaKernelNodeParams *Params) {
  return addNode(Result, Graph, After, Count, cudaGraphNodeTypeKernel,
                 [&](Process &P, CUgraphNode_st &Node) {
                   if (!Params->kernelParams && Params->extra)
                     CRSAN_UNSUPPORTED("cudaGraphAddKernelNode with `extra`");
                   LaunchRequest R{P.findKernel(Params->func), Params->gridDim,
                                   Params->blockDim, Params->sharedMemBytes,
                                   Params->kernelParams};
                   if (!R.Kernel)
                     return cudaErrorInvalidDeviceFunction;
                   return prepareLaunch(P, P.current(), R,
                                        Node.What.emplace<Launch>());
                 });
}

CRSAN_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *Result,
                                             cudaGraph_t Graph,
                                             const cudaGraphNode_t *After,
                                             size_t Count,
                                             const cudaMemcpy3DParms *Params) {
  return addNode(Result, Graph, After, Count, cudaGraphNodeTypeMemcpy,
                 [&](Process &P, CUgraphNode_st &Node) {
                   return makeCopy(P, *Params, Node.What.emplace<HostOp>());
                 });
}

CRSAN_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *Result,
                                               cudaGraph_t Graph,
                                               const cudaGraphNode_t *After,
                                               size_t Count, void *To,
                                               const void *From, size_t Size,
                                               cudaMemcpyKind Kind) {
  cudaMemcpy3DParms Params = {};
  Params.dstPtr.ptr = To;
  Params.srcPtr.ptr = const_cast<void *>(From);
  Params.extent = {Size, 1, 1};
  Params.kind = Kind;
  return cudaGraphAddMemcpyNode(Result, Graph, After, Count, &Params);
}

CRSAN_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *Result,
                                             cudaGraph_t Graph,
                                             const cudaGraphNode_t *After,
                                             size_t Count,
                                             const cudaMemsetParams *Params) {
  return addNode(Result, Graph, After, Count, cudaGraphNodeTypeMemset,
                 [&](Process &P, CUgraphNode_st &Node) {
                   return makeFill(P, *Params, Node.What.emplace<HostOp>());
                 });
}

CRSAN_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *Result,
                                           cudaGraph_t Graph,
                                           const cudaGraphNode_t *After,
                                           size_t Count,
                                           const cudaHostNodeParams *Params) {
  return addNode(Result, Graph, After, Count, cudaGraphNodeTypeHost,
                 [&](Process &, CUgraphNode_st &Node) {
                   auto &Op = Node.What.emplace<HostOp>();
                   Op.Name = "cudaGraphLaunch (host function)";
                   Op.IsFunction = true;
                   Op.Run = [Function = Params->fn, Data = Params->userData] {
                     const InHostFunction Running;
                     Function(Data);
                   };
                   return cudaSuccess;
                 });
}

CRSAN_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *Result,
                                               cudaGraph_t Graph,
                                               const cudaGraphNode_t *After,
                                               size_t Count,
                                               cudaMemAllocNodeParams *Params) {
  return addNode(Result, Graph, After, Count, cudaGraphNodeTypeMemAlloc,
                 [&](Process &P, CUgraphNode_st &Node) {
                   if (!Params)
                     return cudaErrorInvalidValue;
                   cudaError_t Error = makeAllocation(
                       P, *Graph, *Params, /*IsCaptured=*/false, Node);
                   Params->dptr = Node.Memory ? Node.Memory->base() : nullptr;
                   return Error;
                 });
}

CRSAN_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *Result,
                                              cudaGraph_t Graph,
                                              const cudaGraphNode_t *After,
                                              size_t Count, void *Base) {
  return addNode(Result, Graph, After, Count, cudaGraphNodeTypeMemFree,
                 [&](Process &P, CUgraphNode_st &Node) {
                   return makeFree(P, *Graph, Base, "cudaGraphLaunch (free)",
                                   Node);
                 });
}

CRSAN_API cudaError_t cudaGraphAddDependencies(cudaGraph_t Graph,
                                               const cudaGraphNode_t *From,
                                               const cudaGraphNode_t *To,
                                               const cudaGraphEdgeData *Edges,
                                               size_t Count) {
  return enter([&](Process &P) {
    if (!P.Graphs.contains(Graph))
      return cudaErrorInvalidValue;
    for (size_t I = 0; I < Count; ++I) {
      if (From[I]->Home != Graph || To[I]->Home != Graph)
        return cudaErrorInvalidValue;
      To[I]->After.push_back(From[I]);
      if (Edges && Edges[I].type == cudaGraphDependencyTypeProgrammatic)
        if (auto *Kernel = std::get_if<Launch>(&To[I]->What))
          Kernel->MayOverlap = true;
    }
    return cudaSuccess;
  });
}

/// Any node, by the functions for its kind.
static cudaError_t addNodeOfType(cudaGraphNode_t *Result, cudaGraph_t Graph,
                                 const cudaGraphNode_t *After, size_t Count,
                                 cudaGraphNodeParams &Params) {
  switch (int(Params.type)) {
  case cudaGraphNodeTypeKernel: {
    const cudaKernelNodeParamsV2 &P = Params.kernel;
    const cudaKernelNodeParams Kernel{P.func,         P.gridDim,
                                      P.blockDim,     P.sharedMemBytes,
                                      P.kernelParams, P.extra};
    return cudaGraphAddKernelNode(Result, Graph, After, Count, &Kernel);
  }
  case cudaGraphNodeTypeMemcpy:
    return cudaGraphAddMemcpyNode(Result, Graph, After, Count,
                                  &Params.memcpy.copyParams);
  case cudaGraphNodeTypeMemset: {
    const cudaMemsetParamsV2 &P = Params.memset;
    const cudaMemsetParams Fill{P.dst,         P.pitch, P.value,
                                P.elementSize, P.width, P.height};
    return cudaGraphAddMemsetNode(Result, Graph, After, Count, &Fill);
  }
  case cudaGraphNodeTypeHost: {
    const cudaHostNodeParams Host{Params.host.fn, Params.host.userData};
    return cudaGraphAddHostNode(Result, Graph, After, Count, &Host);
  }
  case cudaGraphNodeTypeEmpty:
    return cudaGraphAddEmptyNode(Result, Graph, After, Count);
  case cudaGraphNodeTypeMemAlloc: {
    const cudaMemAllocNodeParamsV2 &P = Params.alloc;
    cudaMemAllocNodeParams Memory{P.poolProps, P.accessDescs, P.accessDescCount,
                                  P.bytesize, nullptr};
    const cudaError_t Error =
        cudaGraphAddMemAllocNode(Result, Graph, After, Count, &Memory);
    Params.alloc.dptr = Memory.dptr;
    return Error;
  }
  case cudaGraphNodeTypeMemFree:
    return cudaGraphAddMemFreeNode(Result, Graph, After, Count,
                                   Params.free.dptr);
  default:
    stop("cudaGraphAddNode of a node of type " + std::to_string(Params.type) +
         " is not supported");
  }
}

/// The edges as cudaGraphAddDependencies() adds them.
CRSAN_API cudaError_t cudaGraphAddNode(
    cudaGraphNode_t *Result, cudaGraph_t Graph, const cudaGraphNode_t *After,
    const cudaGraphEdgeData *Edges, size_t Count, cudaGraphNodeParams *Params) {
  if (!Result || !Params || (Count && !After))
    return enter([](Process &) { return cudaErrorInvalidValue; });
  cudaError_t Error = addNodeOfType(Result, Graph, Edges ? nullptr : After,
                                    Edges ? 0 : Count, *Params);
  for (size_t I = 0; Edges && I < Count && Error == cudaSuccess; ++I)
    Error = cudaGraphAddDependencies(Graph, &After[I], Result, &Edges[I], 1);
  return Error;
}

static cudaError_t listNodes(cudaGraph_t Graph, cudaGraphNode_t *Nodes,
                             size_t *Count, bool RootsOnly) {
  return enter([&](Process &P) {
    if (!P.Graphs.contains(Graph) || !Count)
      return cudaErrorInvalidValue;
    size_t Found = 0, Room = *Count;
    for (CUgraphNode_st &Node : Graph->Nodes) {
      if (RootsOnly && !Node.After.empty())
        continue;
      if (Nodes && Found < Room)
        Nodes[Found] = &Node;
      ++Found;
    }
    *Count = Nodes ? std::min(Found, Room) : Found;
    return cudaSuccess;
  });
}
CRSAN_API cudaError_t cudaGraphGetNodes(cudaGraph_t Graph,
                                        cudaGraphNode_t *Nodes, size_t *Count) {
  return listNodes(Graph, Nodes, Count, false);
}
CRSAN_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t Graph,
                                            cudaGraphNode_t *Nodes,
                                            size_t *Count) {
  return listNodes(Graph, Nodes, Count, true);
}
CRSAN_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t Node,
                                           cudaGraphNodeType *Type) {
  *Type = Node->Type;
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Steps in an order that respects the dependencies; false: there is a cycle.
static bool order(CUgraph_st &Graph, CUgraphExec_st &Exec) {
  std::unordered_map<const CUgraphNode_st *, size_t> Place;
  while (Exec.Steps.size() < Graph.Nodes.size()) {
    size_t Before = Exec.Steps.size();
    for (CUgraphNode_st &Node : Graph.Nodes) {
      bool IsReady = !Place.contains(&Node);
      std::vector<size_t> After;
      for (CUgraphNode_st *Other : Node.After) {
        auto Found = Place.find(Other);
        IsReady &= Found != Place.end();
        if (IsReady)
          After.push_back(Found->second);
      }
      if (!IsReady)
        continue;
      Place[&Node] = Exec.Steps.size();
      Exec.Steps.push_back(
          {Node.What, Node.Type, std::move(After), Node.Memory});
      if (auto *Kernel = std::get_if<Launch>(&Exec.Steps.back().What))
        Kernel->GridId = std::make_shared<uint64_t>(0);
    }
    if (Exec.Steps.size() == Before)
      return false;
  }
  return true;
}

CRSAN_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *Result,
                                           cudaGraph_t Graph,
                                           unsigned long long Flags) {
  return enterDevice([&](Process &P) {
    if (!Result || !P.Graphs.contains(Graph))
      return cudaErrorInvalidValue;
    if (usesMemory(*Graph) && Graph->Instance)
      return cudaErrorNotSupported; // Two would allocate the same memory.
    auto Exec = std::make_unique<CUgraphExec_st>();
    if (!order(*Graph, *Exec))
      return cudaErrorInvalidValue;
    Exec->From = Graph;
    Exec->FreesBeforeLaunch = Flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
    *Result = Exec.release();
    Graph->Instance = *Result;
    P.GraphExecs.insert(*Result);
    return cudaSuccess;
  });
}
CRSAN_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *Result,
                                                    cudaGraph_t Graph,
                                                    unsigned long long Flags) {
  return cudaGraphInstantiate(Result, Graph, Flags);
}

CRSAN_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t Exec) {
  return enter([&](Process &P) {
    if (!P.GraphExecs.erase(Exec))
      return cudaErrorInvalidValue;
    if (P.Graphs.contains(Exec->From) && Exec->From->Instance == Exec)
      Exec->From->Instance = nullptr;
    if (Exec->LastOn)
      Exec->LastOn->M.destroyEvent(Exec->Last);
    delete Exec;
    dropUnusedGraphMemory(P);
    return cudaSuccess;
  });
}

/// Each step on a stream of its own, ordered by events; S goes on after all.
static cudaError_t runSteps(Process &P, const StreamRef &S,
                            const CUgraphExec_st &Exec) {
  Machine &M = S.On->M;
  Event Start = M.createEvent();
  M.record(Start, S.Handle);
  std::vector<Event> Done;
  cudaError_t Error = cudaSuccess;
  for (const CUgraphExec_st::Step &Step : Exec.Steps) {
    StreamRef Own{S.On, M.createStream(/*NonBlocking=*/true), nullptr};
    M.wait(Own.Handle, Start);
    for (size_t Earlier : Step.After)
      M.wait(Own.Handle, Done[Earlier]);
    if (Error == cudaSuccess)
      Error = P.submit(Own, Step.What, Step.Type);
    Done.push_back(M.createEvent());
    M.record(Done.back(), Own.Handle);
    M.wait(S.Handle, Done.back());
    M.destroyStream(Own.Handle);
  }
  for (Event E : Done)
    M.destroyEvent(E);
  M.destroyEvent(Start);
  return Error;
}

/// A launch of an executable graph comes after the one before it, on whatever
/// stream that was.
static void waitForLast(const StreamRef &S, const CUgraphExec_st &Exec) {
  if (Exec.LastOn && Exec.LastOn != S.On)
    S.On->M.wait(S.Handle, Exec.LastOn->M, Exec.Last);
  else if (Exec.LastOn && Exec.LastIn != S.Handle)
    S.On->M.wait(S.Handle, Exec.Last);
}

static void recordLast(const StreamRef &S, CUgraphExec_st &Exec) {
  if (Exec.LastOn != S.On) {
    if (Exec.LastOn)
      Exec.LastOn->M.destroyEvent(Exec.Last);
    Exec.LastOn = S.On;
    Exec.Last = S.On->M.createEvent();
  }
  Exec.LastIn = S.Handle;
  S.On->M.record(Exec.Last, S.Handle);
}

static cudaError_t runChain(Process &P, const StreamRef &S,
                            const CUgraphExec_st &Exec) {
  for (const CUgraphExec_st::Step &Step : Exec.Steps) {
    Operation What = Step.What;
    // A programmatic edge is one between two kernels of the graph; the graph
    // as a whole comes after what the stream did before.
    if (auto *Kernel = std::get_if<Launch>(&What))
      Kernel->MayOverlap &= Step.After.size() == 1;
    if (cudaError_t Error = P.submit(S, std::move(What), Step.Type);
        Error != cudaSuccess)
      return Error;
  }
  return cudaSuccess;
}

static bool isChain(const CUgraphExec_st &Exec) {
  for (size_t I = 0; I < Exec.Steps.size(); ++I) {
    const std::vector<size_t> &After = Exec.Steps[I].After;
    if (I && std::find(After.begin(), After.end(), I - 1) == After.end())
      return false;
  }
  return true;
}

static cudaError_t launchGraph(cudaGraphExec_t Exec, cudaStream_t Handle) {
  return enterDevice([&](Process &P) {
    StreamRef S;
    if (!P.GraphExecs.contains(Exec))
      return cudaErrorInvalidValue;
    if (cudaError_t Error = P.resolve(Handle, S); Error != cudaSuccess)
      return Error;
    if (S.Object && S.Object->Capture)
      CRSAN_UNSUPPORTED("cudaGraphLaunch in a stream capture");
    if (!mayUseMemory(P, *Exec))
      return cudaErrorInvalidValue;
    S.On->HasPending = true;
    waitForLast(S, *Exec);
    if (cudaError_t Error = launchMemory(P, S, *Exec); Error != cudaSuccess)
      return Error;
    // As on hardware, it is one launch, of grids of any streams.
    if (P.session()) {
      P.session()->launching(S.On->context(), S.On->Uid, std::nullopt,
                             S.Object);
      P.session()->launchIsOver(S.On->context(), std::nullopt);
    }
    const cudaError_t Error =
        isChain(*Exec) ? runChain(P, S, *Exec) : runSteps(P, S, *Exec);
    recordLast(S, *Exec);
    return Error;
  });
}
CRSAN_API cudaError_t cudaGraphLaunch(cudaGraphExec_t Exec, cudaStream_t S) {
  return launchGraph(Exec, S);
}
CRSAN_API cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t Exec,
                                           cudaStream_t S) {
  return launchGraph(Exec, perThread(S));
}
CRSAN_API cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t, cudaStream_t) {
  return cudaSuccess;
}
