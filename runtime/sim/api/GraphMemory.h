// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that nodes of graphs allocate and free.
//
// The address is given out with the node and stays the node's. Devices may
// touch the memory from when a launch gets to the allocation to when the GPU
// gets to the free: of a node of the same graph or of another one, or of
// cudaFreeAsync(). What the calls return goes by the order of the calls.
#ifndef CRSAN_SIM_GRAPHMEMORY_H
#define CRSAN_SIM_GRAPHMEMORY_H

#include "Process.h"

namespace crsan::api {

/// Fills in a node of the graph that allocates; Node.Memory has the address.
/// `IsCaptured`: of cudaMallocAsync().
cudaError_t makeAllocation(Process &P, CUgraph_st &Graph,
                           const cudaMemAllocNodeParams &Params,
                           bool IsCaptured, CUgraphNode_st &Node);
/// Fills in one that frees. `Name`: what reports call it.
cudaError_t makeFree(Process &P, CUgraph_st &Graph, void *Base,
                     const char *Name, CUgraphNode_st &Node);

/// The free of an allocation in the order of a stream.
HostOp freeOperation(Process &P, const Allocation &A, const char *Name);

/// cudaFreeAsync() or cudaFree() frees it: as on hardware, the session is not
/// told of the graph's later launches.
void noteFreed(Process &P, const GraphMemory &M);

/// Whether a launch may allocate and free what it does, after the calls so far.
bool mayUseMemory(Process &P, const CUgraphExec_st &Exec);
/// Notes that a launch does. Frees before, in the stream, what an earlier
/// launch has left.
cudaError_t launchMemory(Process &P, const StreamRef &S,
                         const CUgraphExec_st &Exec);

bool usesMemory(const CUgraph_st &Graph);

/// Memory of it that is allocated stays.
void deleteGraph(Process &P, CUgraph_st *Graph);
/// Releases addresses that no graph has any more, and no program.
void dropUnusedGraphMemory(Process &P);

} // namespace crsan::api

#endif // CRSAN_SIM_GRAPHMEMORY_H
