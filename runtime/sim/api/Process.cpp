// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulated GPUs of this process.

#include "Process.h"

#include "DriverTable.h"
#include "HostCode.h"
#include "Report/Demangle.h"
#include "Report/Words.h"
#include "SimulatedRun.h"
#include "common/CallSites.h"
#include "common/Flags.h"
#include "common/Log.h"
#include "common/Watcher.h"
#include "host/Endings.h"
#include "order/ArgumentHash.h"
#include "session/Ending.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace crsan::api {

using namespace std::chrono_literals;

ThreadState &thisThread() {
  static thread_local ThreadState State;
  return State;
}

static sim::Options machineOptions(const Flags &F) {
  sim::Options O;
  O.Seed = F.seed;
  O.Schedule = F.schedule == "roundrobin" ? Options::Policy::RoundRobin
               : F.schedule == "pct"      ? Options::Policy::PCT
                                          : Options::Policy::Random;
  O.PCTDepth = F.pct_depth;
  O.Multiprocessors = F.sim_multiprocessors;
  O.Threads = F.sim_threads;
  O.CheckUninitialisedShared = F.check_uninitialised_shared;
  O.Hidden = "__crsan_";
  O.MaxSteps = uint64_t(F.sim_max_steps) * 1000000;
  return O;
}

Process &Process::get() {
  static Process *TheProcess = new Process;
  return *TheProcess;
}

Process::Process() : Options(readOptions()) {
  for (uint32_t I = 0; I < Options.sim_devices; ++I) {
    auto D = std::make_unique<Device>(int(I), machineOptions(Options));
    D->DefaultPool.On = D.get();
    D->DefaultPool.IsDefault = true;
    D->Pool = &D->DefaultPool;
    Pools.insert(&D->DefaultPool);
    if (Options.sim_devices > 1)
      D->M.setIdle([this, Idle = D.get()] { return advanceOthers(*Idle); });
    Devices.push_back(std::move(D));
  }
  TheRun = new SimulatedRun(*this, Options);
  TheSession = TheRun->session();
  fillDriverTable(*this);
  setRun(TheRun);
  joinTheEnd();
}

//===----------------------------------------------------------------------===//
// The lock
//===----------------------------------------------------------------------===//

/// How often this thread holds the lock.
static thread_local unsigned Held = 0;

bool Process::isHeldHere() const { return Held != 0; }

void Process::lock() {
  ++Calls;
  lockForHostCode();
}

void Process::lockForHostCode() {
  ++Waiting;
  Mutex.lock();
  --Waiting;
  ++Depth;
  ++Held;
}

bool Process::tryLock(std::chrono::milliseconds Patience) {
  ++Waiting;
  bool Got = Mutex.try_lock_for(Patience);
  --Waiting;
  Depth += Got;
  Held += Got;
  return Got;
}

void Process::unlock() {
  --Held;
  --Depth;
  Mutex.unlock();
}

void Process::letOthersIn() {
  if (Waiting == 0 || Depth != 1)
    return;
  Depth = 0;
  Mutex.unlock();
  // The mutex is not fair: give whoever waits the time to get it.
  for (unsigned I = 0; I < 100 && Waiting != 0; ++I)
    std::this_thread::sleep_for(20us);
  Mutex.lock();
  Depth = 1;
}

//===----------------------------------------------------------------------===//
// Memory and streams
//===----------------------------------------------------------------------===//

Allocation *Process::findAllocation(const void *Address) {
  auto After = Allocations.upper_bound(uintptr_t(Address));
  if (After == Allocations.begin())
    return nullptr;
  Allocation &A = std::prev(After)->second;
  return uintptr_t(Address) < uintptr_t(A.Base) + A.Size ? &A : nullptr;
}

/// The function that the program called, as the library's own callbacks name
/// it.
static const char *howAllocated(const Allocation &A) {
  switch (A.What) {
  case Allocation::Kind::Device:
    if (A.OfGraph && !A.OfGraph->IsCaptured)
      return "a node of a graph";
    return A.Pool ? "cudaMallocAsync" : "cudaMalloc";
  case Allocation::Kind::Managed:
    return "cudaMallocManaged";
  case Allocation::Kind::Host:
    return "cudaMallocHost";
  case Allocation::Kind::Registered:
    return "cudaHostRegister";
  }
  return nullptr;
}

std::string Process::describeAllocation(uint64_t Address) {
  const Allocation *A = findAllocation(reinterpret_cast<const void *>(Address));
  if (!A)
    return {};
  return fmt::format("byte {} of {} from {}", Address - uint64_t(A->Base),
                     counted(A->Size, "byte"), howAllocated(*A));
}

uint32_t Process::madeAt(uint64_t Address) {
  const Allocation *A = findAllocation(reinterpret_cast<const void *>(Address));
  return A ? A->MadeAt : 0;
}

std::string Process::launchedAt(const std::string &Kernel) const {
  const auto Found = LaunchedAt.find(Kernel);
  return Found == LaunchedAt.end() ? std::string()
                                   : Found->second.text(demangle(Kernel));
}

void Process::addAllocation(Allocation A) {
  for (const std::unique_ptr<Device> &D : Devices) {
    bool Owns = A.What == Allocation::Kind::Device && D->Ordinal == A.Device;
    bool Sees =
        A.What != Allocation::Kind::Device || D->Peers.contains(A.Device);
    if (Owns && A.OfGraph)
      D->M.disallowRange(A.Base); // Until a launch gets to the allocation.
    else if (!Owns && Sees && !A.OfGraph)
      D->M.allowRange(A.Base, A.Size,
                      /*IsHosts=*/A.What != Allocation::Kind::Device);
  }
  A.MadeAt = callSites().note();
  Allocations[uintptr_t(A.Base)] = A;
  if (A.What != Allocation::Kind::Device)
    hostChecks().allocated(uint64_t(A.Base), A.Size);
  if (TheSession)
    TheSession->allocated(A.What == Allocation::Kind::Device
                              ? device(A.Device).context()
                              : nullptr,
                          uint64_t(A.Base), A.Size, howAllocated(A));
}

void Process::dropAllocation(const void *Base) {
  auto Found = Allocations.find(uintptr_t(Base));
  if (Found == Allocations.end())
    return;
  Allocation A = Found->second;
  Allocations.erase(Found);
  hostChecks().freeing(uint64_t(A.Base));
  if (TheSession)
    TheSession->freed(TheSession->freeing(uint64_t(A.Base)));
  if (A.OfGraph)
    endLifetime(*A.OfGraph);
  else if (A.Pool)
    A.Pool->Used -= A.Size;
  for (const std::unique_ptr<Device> &D : Devices) {
    bool Owns = A.What == Allocation::Kind::Device && D->Ordinal == A.Device;
    bool Sees =
        A.What != Allocation::Kind::Device || D->Peers.contains(A.Device);
    if (Owns)
      D->M.free(A.Base);
    else if (Sees)
      D->M.disallowRange(A.Base);
  }
  if (A.What == Allocation::Kind::Managed || A.What == Allocation::Kind::Host)
    munmap(A.Base, A.Size);
}

void Process::beginLifetime(GraphMemory &M) {
  M.IsThere = true;
  for (const std::unique_ptr<Device> &D : Devices)
    D->M.allowRange(M.base(), M.size());
  device(M.Params.poolProps.location.id).GraphPool.countUse(M.size());
}

void Process::endLifetime(GraphMemory &M) {
  if (!std::exchange(M.IsThere, false))
    return;
  for (const std::unique_ptr<Device> &D : Devices)
    D->M.disallowRange(M.base());
  device(M.Params.poolProps.location.id).GraphPool.Used -= M.size();
}

/// Where Next says, which moves on. A hint only: wherever it is, it works.
static void *mapNear(uintptr_t &Next, size_t Size, int Flags) {
  constexpr uintptr_t Granule = 2 << 20;
  void *Base =
      mmap(reinterpret_cast<void *>(Next), Size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | Flags, -1, 0);
  Next += (Size + Granule - 1) / Granule * Granule;
  return Base == MAP_FAILED ? nullptr : Base;
}

void *Process::mapHost(size_t Size) { return mapNear(NextHost, Size, 0); }

void *Process::mapForSession(Device &D, size_t Size) {
  void *Base = mapNear(NextOfSession, Size, MAP_NORESERVE);
  if (!Base)
    return nullptr;
  D.SessionMemory.emplace(Base, Size);
  D.M.allowRange(Base, Size);
  if (OracleDetector *Oracle = TheRun->oracle())
    Oracle->ignore(D.Ordinal, Base, Size);
  return Base;
}

void Process::unmapForSession(Device &D, void *Base) {
  auto Found = D.SessionMemory.find(Base);
  if (Found == D.SessionMemory.end())
    return;
  D.M.disallowRange(Base);
  munmap(Base, Found->second);
  D.SessionMemory.erase(Found);
}

cudaError_t Process::resolve(cudaStream_t Handle, StreamRef &Found) {
  Found = {};
  if (!Handle || Handle == cudaStreamLegacy) {
    Found.On = &current();
    return cudaSuccess;
  }
  if (Handle == cudaStreamPerThread) {
    cudaStream_t &Own = thisThread().OwnStreams[current().Ordinal];
    if (!Own || !Streams.contains(Own)) {
      Own = new CUstream_st;
      Own->On = &current();
      Own->Handle = current().M.createStream(/*NonBlocking=*/false, 0);
      Own->Id = nextId();
      Streams.insert(Own);
      noteStream(*Own);
    }
    Handle = Own;
  }
  if (!Streams.contains(Handle))
    return cudaErrorInvalidResourceHandle;
  Found = {Handle->On, Handle->Handle, Handle};
  return cudaSuccess;
}

StreamId idOf(const StreamRef &S) {
  return StreamId::of(reinterpret_cast<CUstream>(S.Object),
                      /*IsPerThread=*/false);
}

void Process::noteStream(CUstream_st &New) {
  if (!TheSession)
    return;
  const bool IsBlocking = !(New.Flags & cudaStreamNonBlocking);
  TheSession->ordering()
      .of(New.On->context())
      ->created(idOf({New.On, New.Handle, &New}), IsBlocking);
}

/// What a kernel's launch is to the order of launches.
static OrderedLaunch ordered(const StreamRef &S, const Launch &L) {
  const Dim3 &G = L.Grid, &B = L.Block;
  OrderedLaunch Told{idOf(S),
                     S.Object,
                     L.Kernel->Name.c_str(),
                     {G.X, G.Y, G.Z},
                     {B.X, B.Y, B.Z}};
  Told.Arguments.assign(L.Params.begin(), L.Params.end());
  ArgumentHash Hash;
  for (const KernelInfo::Param &P : L.Kernel->Params)
    if (P.Offset + P.Size <= L.Params.size())
      Hash.add(L.Params.data() + P.Offset, P.Size);
  Told.ArgumentHash = Hash.value();
  return Told;
}

/// Whether a side of a copy, a fill or a free is memory of a graph that no
/// launch has allocated.
static bool isOutOfLifetime(Process &P, const std::vector<HostRange> &Side) {
  const Allocation *A =
      Side.empty() ? nullptr : P.findAllocation(Side.front().Begin);
  return A && A->OfGraph && !A->OfGraph->IsAllocated;
}

/// The operation as a function of the API that makes it would be told; of a
/// graph, the graph's launch has been told.
cudaError_t Process::submit(const StreamRef &S, HostOp What,
                            cudaGraphNodeType Type,
                            const StreamOperation &Told) {
  const bool IsCaptured = S.Object && S.Object->Capture;
  if (!IsCaptured && (isOutOfLifetime(*this, What.Reads) ||
                      isOutOfLifetime(*this, What.Writes)))
    return cudaErrorInvalidValue;
  if (TheRun->oracle())
    What.MadeAt = callSites().note();
  if (!TheSession)
    return submit(S, std::move(What), Type);
  const CUcontext Ctx = S.On->context();
  const uint64_t Flags = TheSession->operating(Ctx, Told);
  const cudaError_t Error = submit(S, std::move(What), Type);
  TheSession->operated(Ctx, Told, Flags, Error != cudaSuccess);
  return Error;
}

cudaError_t Process::submit(const StreamRef &S, Operation What,
                            cudaGraphNodeType Type) {
  if (S.Object && S.Object->Capture) {
    CUgraphNode_st &Node = S.Object->Capture->Nodes.emplace_back();
    Node.Home = S.Object->Capture;
    Node.Type = Type;
    Node.What = std::move(What);
    Node.After = S.Object->Frontier;
    S.Object->Frontier = {&Node};
    return cudaSuccess;
  }
  Device &D = *S.On;
  if (D.Sticky != cudaSuccess)
    return D.Sticky;
  D.HasPending = true;
  startWatchdog();
  const auto *Launched = std::get_if<Launch>(&What);
  hostChecks().pending().given(pendingId(D, S.Handle),
                               Launched ? Launched->Kernel->Name.c_str()
                                        : nullptr);
  if (auto *Kernel = std::get_if<Launch>(&What)) {
    std::string Name = Kernel->Kernel->Name;
    TheRun->launched(*Kernel);
    LaunchedAt[Name].note();
    std::optional<OrderedLaunch> Ordered;
    if (TheSession) {
      Ordered = ordered(S, *Kernel);
      TheSession->launching(D.context(), D.Uid, Ordered, S.Object);
    }
    const KernelInfo *Twin =
        TheSession && !TheRun->oracle() &&
                TheSession->leavesToTwin(D.context(), Name)
            ? D.M.findKernel(Kernel->Kernel->Module, abi::TwinPrefix + Name)
            : nullptr;
    if (Twin)
      Kernel->Kernel = Twin;
    D.M.launch(S.Handle, std::move(*Kernel));
    if (TheSession) {
      TheSession->launchIsOver(D.context(), Ordered);
      // Registers limit nothing here, so that there is nothing to judge.
      TheSession->launched(D.context(), Name.c_str(), std::nullopt,
                           Twin != nullptr);
    }
  } else if (auto *Op = std::get_if<HostOp>(&What)) {
    // It may wait for anything.
    if (TheSession && Type == cudaGraphNodeTypeHost)
      TheSession->ordering().lose();
    D.M.enqueue(S.Handle, std::move(*Op));
  }
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Stopping
//===----------------------------------------------------------------------===//

void stop(const std::string &Why) {
  theLog().say("simulated GPU: {}", Why);
  flushEverything();
  crsanLeave(1);
}

void stopAt(const char *What, const void *ReturnAddress) {
  Dl_info Info{};
  std::string From = "an unknown place";
  if (dladdr(ReturnAddress, &Info) && Info.dli_fname) {
    uintptr_t Offset = uintptr_t(ReturnAddress) - uintptr_t(Info.dli_fbase);
    From = Info.dli_sname ? fmt::format("{} in {}+{:#x}", Info.dli_sname,
                                        Info.dli_fname, Offset)
                          : fmt::format("{}+{:#x}", Info.dli_fname, Offset);
  }
  stop(fmt::format("{} is not supported (called from {})", What, From));
}

} // namespace crsan::api
