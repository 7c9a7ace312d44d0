// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What handles of the runtime API stand for.
//
// CUDA's headers leave the structs behind their handles open; here they are.
// All are owned by the Process and guarded by its lock.
#ifndef CRSAN_SIM_OBJECTS_H
#define CRSAN_SIM_OBJECTS_H

#include "machine/Machine.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

/// Apart from the machine's names, of which it uses many.
namespace crsan::api {

using namespace sim;

struct Device;

/// What a stream is given to do; a graph's nodes hold the same.
using Operation = std::variant<std::monostate, Launch, HostOp>;

/// Memory that a node of a graph allocates (GraphMemory.h).
struct GraphMemory {
  /// As the node was made with them, and the address.
  cudaMemAllocNodeParams Params = {};
  std::vector<cudaMemAccessDesc> Access; ///< Params point here.
  const CUgraph_st *Owner = nullptr;     ///< Null: the graph is no more.
  bool IsCaptured = false;               ///< By cudaMallocAsync.
  /// Free nodes were made, in the owner or in other graphs.
  bool IsFreedByOwner = false, IsFreedElsewhere = false;
  /// By the calls so far: a launch has allocated it, and nothing has freed it
  /// since.
  bool IsAllocated = false;
  /// By what the GPU has done so far.
  bool IsThere = false;

  void *base() const { return Params.dptr; }
  size_t size() const { return Params.bytesize; }
};

} // namespace crsan::api

/// A kernel as the program knows it: by its host function or by a handle.
struct CUkern_st {
  CUlib_st *Home = nullptr;
  std::string Name; ///< Mangled.
  /// cudaFuncSetAttribute's, by device; -1: not set.
  std::map<int, int> MaxDynamicShared;
  bool NonPortableCluster = false;
};

/// A `__device__` or `__constant__` variable.
struct CRSanVariable {
  CUlib_st *Home = nullptr;
  std::string Name;
  size_t Size = 0;
  void **ManagedPointer = nullptr; ///< nvcc's, to be filled in.
};

/// The code of one fat binary: an image, loaded on a device when it is first
/// needed there.
struct CUlib_st {
  const void *Code = nullptr;
  std::string Name; ///< The file that registered it.
  bool IsUnpacked = false;
  std::string Problem; ///< Why there is nothing to load, in one line.
  std::vector<std::string> PTX;
  std::vector<std::string>
      Given;           ///< The PTX before it got checks (AddedChecks.h).
  unsigned Target = 0; ///< The architecture of the PTX.
  std::map<int, crsan::sim::ModuleId> Loaded; ///< By device.
  /// Node-based: handles point in here.
  std::map<std::string, CUkern_st> Kernels;
  std::vector<const void *> HostFunctions, HostVariables; ///< To unregister.
  bool IsShown = false;                                   ///< To the session.
};

struct CUstream_st {
  crsan::api::Device *On = nullptr;
  crsan::sim::Stream Handle = 0;
  unsigned Flags = 0;
  int Priority = 0;
  uint64_t Id = 0;
  /// The graph that what is given to the stream goes into, and the nodes that
  /// the next one follows.
  CUgraph_st *Capture = nullptr;
  std::vector<CUgraphNode_st *> Frontier;
  bool BeganCapture = false;
};

struct CUevent_st {
  crsan::api::Device *On = nullptr;
  crsan::sim::Event Handle = 0;
  unsigned Flags = 0;
  bool IsRecorded = false;
  CUgraph_st *Capture = nullptr; ///< Recorded into a capture.
  std::vector<CUgraphNode_st *> Frontier;
};

struct CUmemPoolHandle_st {
  crsan::api::Device *On = nullptr;
  uint64_t ReleaseThreshold = 0;
  uint64_t Used = 0, UsedHigh = 0;
  bool IsDefault = false;

  void countUse(uint64_t Size) {
    Used += Size;
    UsedHigh = std::max(UsedHigh, Used);
  }
};

struct CUgraphNode_st {
  CUgraph_st *Home = nullptr;
  cudaGraphNodeType Type = cudaGraphNodeTypeEmpty;
  crsan::api::Operation What;
  std::vector<CUgraphNode_st *> After; ///< What it waits for.
  /// What it allocates or frees.
  std::shared_ptr<crsan::api::GraphMemory> Memory;
};

struct CUgraph_st {
  std::deque<CUgraphNode_st> Nodes; ///< Handles point in here.
  /// The last one made of it; null: it is no more.
  const CUgraphExec_st *Instance = nullptr;
};

struct CUgraphExec_st {
  struct Step {
    crsan::api::Operation What;
    cudaGraphNodeType Type;
    std::vector<size_t> After;                       ///< Earlier steps.
    std::shared_ptr<crsan::api::GraphMemory> Memory; ///< As the node's.
  };
  std::vector<Step> Steps;
  CUgraph_st *From = nullptr; ///< It may be no more.
  /// Reached when the last launch, in that stream of that device, is over.
  crsan::api::Device *LastOn = nullptr;
  crsan::sim::Stream LastIn = 0;
  crsan::sim::Event Last = 0;
  bool FreesBeforeLaunch = false;
};

namespace crsan::api {

/// Memory that the API has given out or registered.
struct Allocation {
  enum class Kind : uint8_t { Device, Managed, Host, Registered } What;
  void *Base = nullptr;
  size_t Size = 0;
  int Device = 0; ///< The one that was current.
  unsigned Flags = 0;
  CUmemPoolHandle_st *Pool = nullptr;
  bool IsFreeing = false; ///< A stream will get to the free.
  uint32_t MadeAt = 0;    ///< Of CallSites.
  std::shared_ptr<GraphMemory> OfGraph = nullptr;
};

struct Device {
  Device(int Ordinal, Options O) : Ordinal(Ordinal), M(Ordinal, std::move(O)) {}

  CUcontext context() { return reinterpret_cast<CUcontext>(this); }
  static Device *of(CUcontext C) { return reinterpret_cast<Device *>(C); }

  const int Ordinal;
  Machine M;
  cudaError_t Sticky = cudaSuccess; ///< A kernel failed.
  uint32_t Uid = 1;                 ///< Another after each reset.
  unsigned Flags = 0;
  std::set<int> Peers; ///< Whose memory this one may touch.
  std::map<int, size_t> Limits;
  std::map<void *, size_t> SessionMemory; ///< See Process::mapForSession.
  CUmemPoolHandle_st DefaultPool;
  CUmemPoolHandle_st *Pool = nullptr; ///< The current one.
  CUmemPoolHandle_st GraphPool;       ///< Counts what nodes of graphs allocate.
  bool HasPending = false; ///< Something was enqueued since all was done.
  /// The session's own stream. The machine has it once the session launches
  /// something there: it waits for no other stream, nor another for it.
  CUstream_st Own;
};

} // namespace crsan::api

#endif // CRSAN_SIM_OBJECTS_H
