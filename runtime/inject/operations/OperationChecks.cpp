// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels that check copies and fills and judge host code, in a context.

#include "operations/OperationChecks.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "crsan/abi/Names.h"
#include "crsan/abi/Site.h"
#include "operations/OperationSites.h"

#include <fmt/format.h>

#include <utility>

namespace crsan {

// Built from runtime/device/Operation.cu by CMake.
alignas(16) static const unsigned char Code[] = {
#embed "operation.fatbin"
};

//===----------------------------------------------------------------------===//
// The kernel and its sites
//===----------------------------------------------------------------------===//

namespace {
/// What the kernel's sites are in the context's memory. Those of the reads and
/// of the writes of a place alternate, so nothing has to be written when the
/// program comes to a new place.
struct SiteMemory {
  abi::AccessSite Accesses[abi::MaxOperationSites];
  abi::Site Values[abi::MaxOperationSites];
  abi::Sampling Windows[abi::MaxOperationSites];
  abi::AccessSite Hosts[abi::MaxHostSites]; ///< Of host code: an index each.
};
} // namespace

static std::vector<SiteMemory> initialSites() {
  std::vector<SiteMemory> Memory(1);
  for (uint32_t I = 0; I < abi::MaxOperationSites; ++I) {
    const bool Writes = I % 2;
    abi::AccessSite &A = Memory[0].Accesses[I];
    A.Id = OperationSites::idOf(I);
    A.Flags = Writes ? abi::WritesMemory : abi::ReadsMemory;
    A.Scope = abi::Scope::Device;
    A.Order = abi::MemoryOrder::Weak;
    A.MemorySpace = abi::Space::Global;
    A.Index = abi::NoIndexYet;
    A.Count = 1;
    A.Roles = abi::IsOperation;
    abi::Site &S = Memory[0].Values[I];
    S.Id = A.Id;
    S.Access = Writes ? abi::AccessKind::Store : abi::AccessKind::Load;
    S.MemorySpace = abi::Space::Global;
  }
  for (abi::AccessSite &A : Memory[0].Hosts) {
    A.Index = abi::NoIndexYet;
    A.Count = 1;
  }
  return Memory;
}

CUdeviceptr OperationChecks::accessOf(uint32_t Site) const {
  return Sites + offsetof(SiteMemory, Accesses) +
         Site * sizeof(abi::AccessSite);
}
CUdeviceptr OperationChecks::siteOf(uint32_t Site) const {
  return Sites + offsetof(SiteMemory, Values) + Site * sizeof(abi::Site);
}
CUdeviceptr OperationChecks::samplingOf(uint32_t Site) const {
  return Sites + offsetof(SiteMemory, Windows) + Site * sizeof(abi::Sampling);
}

std::string OperationChecks::tryToLoad(CUstream Stream) {
  WasTried = true;
  Driver &D = theDriver();
  if (!D.cuModuleLoadData || !D.cuModuleGetFunction || !D.cuLaunchKernel ||
      !D.cuEventCreate || !D.cuEventRecord || !D.cuEventQuery ||
      !D.cuStreamWaitEvent)
    return "the driver lacks a function";
  const char *Call = "cuModuleLoadData";
  CUmodule Module = nullptr;
  CUfunction Kernel = nullptr, Waits = nullptr, OfHost = nullptr;
  CUresult Result = D.cuModuleLoadData(&Module, Code);
  const auto Then = [&](const char *Next, auto Do) {
    if (Result != CUDA_SUCCESS)
      return;
    Call = Next;
    Result = Do();
  };
  Then("cuModuleGetFunction", [&] {
    return D.cuModuleGetFunction(&Kernel, Module, abi::OperationKernel);
  });
  Then("cuModuleGetFunction",
       [&] { return D.cuModuleGetFunction(&Waits, Module, abi::PauseKernel); });
  Then("cuModuleGetFunction", [&] {
    return D.cuModuleGetFunction(&OfHost, Module, abi::HostNotesKernel);
  });
  Then("cuModuleGetGlobal", [&] {
    size_t Size = 0;
    return D.cuModuleGetGlobal(&Config, &Size, Module, abi::ConfigName);
  });
  Then("cuMemAlloc", [&] { return D.cuMemAlloc(&Sites, sizeof(SiteMemory)); });
  Then("cuMemcpyHtoDAsync", [&] {
    const std::vector<SiteMemory> Initial = initialSites();
    const CUresult Copied =
        D.cuMemcpyHtoDAsync(Sites, Initial.data(), sizeof(SiteMemory), Stream);
    return Copied ? Copied : D.cuStreamSynchronize(Stream);
  });
  if (Result != CUDA_SUCCESS)
    return fmt::format("{} failed: {}", Call, D.errorText(Result));
  Pause = Waits;
  Judges = OfHost;
  Function = Kernel;
  return {};
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Null: there is none.
static CUevent createEvent() {
  CUevent Event = nullptr;
  const CUresult Result =
      theDriver().cuEventCreate(&Event, CU_EVENT_DISABLE_TIMING);
  return Result == CUDA_SUCCESS ? Event : nullptr;
}

CUevent OperationChecks::eventOf(StreamId Stream) {
  CUevent &Event = Last[Stream];
  if (!Event)
    Event = createEvent();
  return Event;
}

CUevent OperationChecks::mark(CUstream Stream) {
  constexpr unsigned MostMarks = 64; // Each launch asks for all of them.
  std::lock_guard Guard(Lock);
  CUevent Event = nullptr;
  if (!Unused.empty()) {
    Event = Unused.back();
    Unused.pop_back();
  } else if (NumMarks < MostMarks) {
    Event = createEvent();
    NumMarks += Event != nullptr;
  }
  if (Event && theDriver().cuEventRecord(Event, Stream) != CUDA_SUCCESS) {
    Unused.push_back(Event);
    Event = nullptr;
  }
  return Event;
}

void OperationChecks::giveBack(CUevent Event) {
  std::lock_guard Guard(Lock);
  Unused.push_back(Event);
}

CUresult OperationChecks::launch(CUfunction Kernel, StreamId Stream,
                                 CUstream Handle, void *Parameter,
                                 uint32_t Blocks, uint32_t Threads) {
  Driver &D = theDriver();
  std::lock_guard Guard(Lock);
  if (MayBeAwaited)
    return CUDA_ERROR_NOT_READY;
  const CUevent Event = eventOf(Stream);
  if (!Event)
    return CUDA_ERROR_OUT_OF_MEMORY;
  const CUresult Result =
      D.cuLaunchKernel(Kernel, Blocks, 1, 1, Threads, 1, 1,
                       /*sharedMemBytes=*/0, Handle, &Parameter, nullptr);
  return Result == CUDA_SUCCESS ? D.cuEventRecord(Event, Handle) : Result;
}

CUresult OperationChecks::launch(const StreamOperation &Op,
                                 abi::Operation Parameter, uint32_t Blocks) {
  return launch(Function, Op.Stream, Op.Handle, &Parameter, Blocks,
                abi::OperationBlock);
}

CUresult OperationChecks::judge(StreamId Stream, CUstream Handle,
                                abi::HostNotes Notes) {
  Notes.Sites = Sites + offsetof(SiteMemory, Hosts);
  constexpr uint32_t NotesOfBlock = abi::HostNotesBlock / 32;
  return launch(Judges, Stream, Handle, &Notes,
                (Notes.Count + NotesOfBlock - 1) / NotesOfBlock,
                abi::HostNotesBlock);
}

void OperationChecks::pause(CUstream Stream, uint32_t Ns) {
  Driver &D = theDriver();
  void *Parameters[] = {&Ns};
  const CUresult Result =
      D.cuLaunchKernel(Pause, 1, 1, 1, 1, 1, 1,
                       /*sharedMemBytes=*/0, Stream, Parameters, nullptr);
  if (Result != CUDA_SUCCESS)
    theLog().detail(2, "no pause before a launch: {}", D.errorName(Result));
}

void OperationChecks::awaiting(CUstream Stream) {
  Driver &D = theDriver();
  std::lock_guard Guard(Lock);
  if (MayBeAwaited.exchange(true))
    return;
  const auto Wait = [&](CUevent Event) {
    const CUresult Result = D.cuStreamWaitEvent(Stream, Event, 0);
    if (Result != CUDA_SUCCESS)
      theLog().detail(2, "cuStreamWaitEvent: {}", D.errorName(Result));
  };
  for (const auto &[Id, Event] : Last)
    if (Event)
      Wait(Event);
  for (CUevent Event : OfDestroyed)
    Wait(Event);
}

void OperationChecks::becameIdle() {
  std::lock_guard Guard(Lock);
  MayBeAwaited = false;
  for (CUevent Event : std::exchange(OfDestroyed, {}))
    if (theDriver().cuEventDestroy)
      theDriver().cuEventDestroy(Event);
}

void OperationChecks::destroyed(StreamId Stream) {
  std::lock_guard Guard(Lock);
  if (auto Gone = Last.extract(Stream); !Gone.empty() && Gone.mapped())
    OfDestroyed.push_back(Gone.mapped());
}

} // namespace crsan
