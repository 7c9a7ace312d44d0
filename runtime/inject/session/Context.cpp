// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the library keeps for a CUDA context.

#include "session/Context.h"

#include "Report/Demangle.h"
#include "common/CallSites.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "session/Collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace crsan {

/// The memory of a context that died while kernels may still have been running
/// is not given back: the device might write to it.
Context::~Context() = default;

void Context::identify() {
  Driver &D = theDriver();
  if (D.cuCtxGetDevice(&Device) != CUDA_SUCCESS) {
    Device = -1;
    return;
  }
  auto Get = [&](int &Value, CUdevice_attribute Which) {
    D.cuDeviceGetAttribute(&Value, Which, Device);
  };
  Get(ComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  Multiprocessors &P = Processors;
  Get(P.Count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  Get(P.Threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  Get(P.Blocks, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  Get(P.Registers, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  Get(P.SharedBytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  Get(P.ReservedSharedBytes,
      CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  if (ComputeMajor < 8)
    P.SharedUnit = 256;
}

std::unique_ptr<MetadataShadow> Context::makeShadow(const Flags &Options,
                                                    std::string &Error) const {
  auto New = std::make_unique<MetadataShadow>(Device, Buffers.Stream, Options);
  Error = New->prepare(
      uint64_t(Processors.SharedBytes) * uint64_t(Processors.Count),
      {Options.follow_one_in, Salt, Options.follow_ms * 1000,
       Options.follow_percent, Options.follow_launch_ms * 1000});
  return Error.empty() ? std::move(New) : nullptr;
}

std::string Context::raiseStack() {
  Driver &D = theDriver();
  size_t Native = 0;
  if (HasRaisedStack || !D.cuCtxGetLimit || !D.cuCtxSetLimit ||
      D.cuCtxGetLimit(&Native, CU_LIMIT_STACK_SIZE) != CUDA_SUCCESS)
    return {};
  HasRaisedStack = true;
  // The frames of small functions grow to eight times their size by what a
  // check passes to the runtime, and the innermost calls the runtime itself.
  constexpr size_t Growth = 8, OfRuntime = 2048;
  CUresult Result = CUDA_SUCCESS;
  for (size_t Factor = Growth; Factor > 1; Factor /= 2) {
    Result = D.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, Native * Factor + OfRuntime);
    if (Result == CUDA_SUCCESS)
      return {};
  }
  return fmt::format(
      "threads have {} bytes of stack, and functions that call themselves, or "
      "others by a pointer, need more with checks than without ({}); if a "
      "kernel "
      "fails, raise cudaLimitStackSize",
      Native, D.errorText(Result));
}

abi::Config Context::makeConfig(const Flags &Options, bool MayShuffle,
                                bool IsShadowed) const {
  abi::Config Config{};
  Config.Version = abi::Version;
  Config.Flags = abi::Enabled;
  if (Options.trap)
    Config.Flags |= abi::TrapOnRace;
  if (!Options.report_same_value)
    Config.Flags |= abi::DistinctOnly;
  if (Options.shuffle && MayShuffle)
    Config.Flags |= abi::ShuffleBlocks;
  if (Options.intra_warp)
    Config.Flags |= abi::IntraWarp;
  if (Options.watchpoints)
    Config.Flags |= abi::Watch;
  if (Options.lasting_watchpoints && !HasGraphs)
    Config.Flags |= abi::Lasting;
  if (Options.garbage)
    Config.Flags |= abi::Garbage;
  if (IsPaused)
    Config.Flags |= abi::Paused;
  // The later half of one kernel may run beside the earlier half of another.
  if (Options.early_blocks && !IsOverlapping)
    Config.Flags |= abi::EarlyBlocks;
  Config.Records = Buffers.RecordsDevice;
  Config.Counters = Buffers.Counters;
  Config.Watchpoints = Buffers.Counters + sizeof(abi::Counters);
  if (IsShadowed) {
    Config.Flags |= abi::Shadowed;
    if (Options.follow_one_in > 1)
      Config.Flags |= abi::Sampled;
    if (Options.volatile_ == "weak")
      Config.Flags |= abi::WeakVolatile;
    Config.Metadata = TheShadow->address();
  }
  Config.TensorMaps = Buffers.TensorMaps;
  Config.HostWatchpoints = Buffers.HostWatchpoints;
  Config.Seed = Options.seed;
  Config.DelayNs = Options.delay_ns;
  Config.Budget = budget(Options);
  Config.MaxInterval = Options.max_interval;
  if (Options.overhead)
    Config.CyclesPerCycle = 256 + std::max(256 * 100 / Options.overhead, 1u);
  if (Options.look_overhead)
    Config.CyclesPerLookCycle =
        256 + std::max(256 * 100 / Options.look_overhead, 1u);
  Config.Multiprocessors = uint32_t(std::max(Processors.Count, 1));
  Config.SharedBytes = uint32_t(std::max(Processors.SharedBytes, 1));
  Config.WarpOneIn = Options.warpOneIn();
  return Config;
}

CUresult Context::writeConfig(CUdeviceptr Where, const abi::Config &Config) {
  Driver &D = theDriver();
  CUresult Result =
      D.cuMemcpyHtoDAsync(Where, &Config, sizeof(Config), Buffers.Stream);
  return Result == CUDA_SUCCESS ? D.cuStreamSynchronize(Buffers.Stream)
                                : Result;
}

template <typename ChangeT> CUresult Context::change(const ChangeT &Change) {
  CUresult Result = CUDA_SUCCESS;
  for (SwitchedOn &S : Configs) {
    Change(S.Config);
    if (const CUresult Written = writeConfig(S.Where, S.Config))
      Result = Written;
  }
  return Result;
}

CUresult Context::setPaused(bool Paused) {
  IsPaused = Paused;
  return change([=](abi::Config &C) {
    C.Flags &= ~uint32_t(abi::Paused);
    C.Flags |= Paused ? abi::Paused : 0;
  });
}

CUresult Context::setGraphs() {
  HasGraphs = true;
  return change([](abi::Config &C) { C.Flags &= ~uint32_t(abi::Lasting); });
}

CUresult Context::setOverlapping(const Flags &Options) {
  IsOverlapping = true;
  return change([&](abi::Config &C) {
    C.Budget = budget(Options);
    C.Flags &= ~uint32_t(abi::EarlyBlocks);
  });
}

uint32_t Context::budget(const Flags &Options) const {
  // Two kernels race only while both run, and a kernel that is checked runs
  // longer.
  constexpr uint32_t Overlapping = 8;
  if (!IsOverlapping)
    return Options.budget;
  return std::min(Options.budget,
                  std::numeric_limits<uint32_t>::max() / Overlapping) *
         Overlapping;
}

Residency Context::askResidency(const LaunchShape &Shape) const {
  Driver &D = theDriver();
  OwnCalls Own(Handle);
  if (!Own.ok() || !D.cuOccupancyMaxActiveBlocksPerMultiprocessor)
    return {};
  // The blocks of a cluster are placed together, by rules of their own.
  int ClusterWidth = 0;
  if (D.attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, Shape.Function,
                  Device, ClusterWidth) == CUDA_SUCCESS &&
      ClusterWidth > 0)
    return {};
  BlockNeeds Needs;
  Needs.Threads = Shape.Threads;
  int StaticShared = 0, BlocksEach = 0;
  CUresult Result = D.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, Shape.Function,
                                Device, Needs.Registers);
  if (Result == CUDA_SUCCESS)
    Result = D.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, Shape.Function,
                         Device, StaticShared);
  if (Result == CUDA_SUCCESS)
    Result = D.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &BlocksEach, Shape.Function, Shape.Threads, Shape.DynamicSharedBytes);
  Needs.SharedBytes = int64_t(StaticShared) + Shape.DynamicSharedBytes;
  theLog().detail(2,
                  "occupancy: {}, {} blocks of {} threads, {} registers each, "
                  "and {} bytes of shared memory on a multiprocessor",
                  D.errorName(Result), BlocksEach, Needs.Threads,
                  Needs.Registers, Needs.SharedBytes);
  if (Result != CUDA_SUCCESS)
    return {};
  return computeResidency(Processors, Needs, BlocksEach);
}

ReadBackPlan Context::plan() const {
  ReadBackPlan Plan;
  Plan.Handle = Handle;
  Plan.Stream = Buffers.Stream;
  Plan.Counters = Buffers.Counters;
  for (size_t I = 0; I < Arrays.size(); ++I)
    if (Arrays[I].Address)
      Plan.Arrays.push_back({I, Arrays[I].Address, Arrays[I].Last.size()});
  for (size_t I = 0; I < SharedUses.size(); ++I)
    if (SharedUses[I].Address)
      Plan.SharedUses.push_back(
          {I, SharedUses[I].Address, SharedUses[I].SharedUses.size()});
  Plan.Covered = Covered;
  if (TheShadow) {
    Plan.Metadata = TheShadow->address();
    Plan.Warps = TheShadow->warps();
    Plan.Pairs = TheShadow->pairs();
  }
  return Plan;
}

ReadBack readBack(const ReadBackPlan &Plan) {
  ReadBack Back;
  Driver &D = theDriver();
  OwnCalls Own(Plan.Handle);
  if (!Own.ok())
    return Back.Result = CUDA_ERROR_INVALID_CONTEXT, Back;
  Back.Result = D.cuCtxSynchronize();
  if (Back.Result != CUDA_SUCCESS || !Plan.Counters)
    return Back;
  CUresult Copied = D.cuMemcpyDtoHAsync(&Back.Counters, Plan.Counters,
                                        sizeof(Back.Counters), Plan.Stream);
  auto Copy = [&](void *To, CUdeviceptr From, size_t Bytes) {
    if (Copied == CUDA_SUCCESS)
      Copied = D.cuMemcpyDtoHAsync(To, From, Bytes, Plan.Stream);
  };
  for (const ReadBackPlan::Array &Array : Plan.Arrays)
    Copy(Back.Arrays.emplace_back(Array.Count).data(), Array.Address,
         Array.Count * sizeof(abi::Site));
  for (const ReadBackPlan::Array &Array : Plan.SharedUses)
    Copy(Back.SharedUses.emplace_back(Array.Count).data(), Array.Address,
         Array.Count * sizeof(uint32_t));
  Back.Covered = Plan.Covered;
  const auto CopyAll = [&](auto &Array) {
    if (Array.Address)
      Copy(Array.Last.data(), Array.Address,
           Array.Last.size() * sizeof(Array.Last[0]));
  };
  for (UnitCoverage &Unit : Back.Covered) {
    CopyAll(Unit.Sites);
    CopyAll(Unit.Windows);
    CopyAll(Unit.Accesses);
  }
  std::vector<abi::WarpState> Warps;
  std::vector<uint64_t> LeftOut;
  if (Plan.Metadata) {
    Warps.resize(abi::NumWarps);
    LeftOut.resize(abi::NumNearPlaces);
    Back.Pairs.resize(abi::NumRacingPairs);
    Copy(&Back.Metadata, Plan.Metadata, sizeof(Back.Metadata));
    Copy(Warps.data(), Plan.Warps, Warps.size() * sizeof(Warps[0]));
    Copy(LeftOut.data(), Plan.Metadata + abi::BlocksLeftOutAt,
         LeftOut.size() * sizeof(LeftOut[0]));
    Copy(Back.Pairs.data(), Plan.Pairs,
         Back.Pairs.size() * sizeof(Back.Pairs[0]));
  }
  if (Copied == CUDA_SUCCESS)
    Copied = D.cuStreamSynchronize(Plan.Stream);
  Back.Accesses = sumWarps(Warps);
  Back.BlocksLeftOut =
      std::accumulate(LeftOut.begin(), LeftOut.end(), uint64_t(0));
  Back.Complete = Copied == CUDA_SUCCESS;
  return Back;
}

void Context::accept(const ReadBackPlan &Plan, ReadBack Back) {
  LastCounters = Back.Counters;
  LastMetadata = Back.Metadata;
  LastAccesses = Back.Accesses;
  LastBlocksLeftOut = Back.BlocksLeftOut;
  if (TheShadow) {
    LastAccesses.Checked += TheShadow->before().Checked;
    LastAccesses.Unchecked += TheShadow->before().Unchecked;
  }
  LastPairs = std::move(Back.Pairs);
  for (size_t I = 0; I < Plan.Arrays.size(); ++I)
    Arrays[Plan.Arrays[I].Index].Last = std::move(Back.Arrays[I]);
  for (size_t I = 0; I < Plan.SharedUses.size(); ++I)
    SharedUses[Plan.SharedUses[I].Index].Last = std::move(Back.SharedUses[I]);
  // More code may have been loaded since the plan was made, behind it.
  for (size_t I = 0; I < Plan.Covered.size(); ++I) {
    Covered[I].Sites.Last = std::move(Back.Covered[I].Sites.Last);
    Covered[I].Windows.Last = std::move(Back.Covered[I].Windows.Last);
    Covered[I].Accesses.Last = std::move(Back.Covered[I].Accesses.Last);
  }
}

void Context::forgetCode(uint64_t Code) {
  for (SiteArray &Array : Arrays)
    if (Array.Code == Code)
      Array.Address = 0;
  for (SharedUseArray &Array : SharedUses)
    if (Array.Code == Code)
      Array.Address = 0;
  for (UnitCoverage &Unit : Covered)
    if (Unit.Code == Code)
      Unit.Sites.Address = Unit.Windows.Address = Unit.Accesses.Address = 0;
}

/// The access of a site, counted nowhere yet; nothing: it has no place.
static std::optional<AccessCoverage> accessOf(const SiteTable &Known,
                                              uint64_t Site) {
  const SiteInfo *S = Known.find(Site);
  if (!S || S->Frames.empty() || S->isAtomic() ||
      S->Access == abi::AccessKind::Barrier)
    return std::nullopt;
  return AccessCoverage{.Place = frameToName(S->Frames),
                        .Kernel = S->Kernel,
                        .Access = S->Access};
}

/// How often a window's accesses were checked. Of the checks that count
/// together, each has an equal share.
static uint64_t checksOf(const UnitCoverage &Unit, uint32_t Window) {
  if (Window >= Unit.Windows.Last.size() ||
      Window >= Unit.ChecksOfWindow.size())
    return 0;
  const uint64_t Share = std::max<uint32_t>(Unit.ChecksOfWindow[Window], 1);
  return (Unit.Windows.Last[Window].Executed + Share - 1) / Share;
}

void Context::addTo(Coverage &All, const SiteTable &Known) const {
  Coverage Found;
  for (const UnitCoverage &Unit : Covered) {
    const size_t NumSites =
        std::min(Unit.Sites.Last.size(), Unit.WindowOfSite.size());
    for (size_t I = 0; I < NumSites; ++I)
      if (auto A = accessOf(Known, Unit.Sites.Last[I].Id)) {
        A->Checks = checksOf(Unit, Unit.WindowOfSite[I]);
        Found.push_back(std::move(*A));
      }
    for (const abi::AccessSite &Site : Unit.Accesses.Last)
      if (auto A = accessOf(Known, Site.Id)) {
        A->IsFollowed = Site.Index < abi::MaxSites;
        Found.push_back(std::move(*A));
      }
  }
  addCoverage(All, std::move(Found));
}

void Context::noteLaunch(const std::string &Kernel) {
  ++UnreadLaunches;
  unsigned Newest = (NextRecent + Recent.size() - 1) % Recent.size();
  if (Recent[Newest] == Kernel)
    return;
  Recent[NextRecent] = Kernel;
  NextRecent = (NextRecent + 1) % Recent.size();
}

std::vector<std::string> Context::lateKernels() const {
  std::vector<std::string> Kernels;
  for (size_t I = 0; I < Recent.size(); ++I) {
    const std::string &Kernel = Recent[(NextRecent + I) % Recent.size()];
    if (!Kernel.empty() &&
        std::find(Kernels.begin(), Kernels.end(), Kernel) == Kernels.end())
      Kernels.push_back(Kernel);
  }
  return Kernels;
}

std::string Context::lastKernels() const {
  std::string Text;
  for (const std::string &Kernel : lateKernels())
    Text += (Text.empty() ? "" : ", ") + demangle(Kernel);
  return Text.empty() ? "none" : Text;
}

bool Context::launchedLately(const std::string &Kernel) const {
  return std::find(Recent.begin(), Recent.end(), Kernel) != Recent.end();
}

/// Describes what is at an address of global memory. Empty: that is not known,
/// or several things were there, one after the other.
PlaceInMemory Context::describe(uint64_t Address,
                                const Allocations &Memory) const {
  std::string Text;
  for (const VariableInMemory &V : Named) {
    if (Address < V.Base || Address - V.Base >= V.Variable.Size)
      continue;
    std::string This = placeInVariable(V.Variable, Address - V.Base);
    if (!Text.empty() && This != Text)
      return {};
    Text = std::move(This);
  }
  return Text.empty() ? Memory.describe(Handle, Address) : PlaceInMemory{Text};
}

/// Describes what is at an address of shared memory.
std::string Context::describeShared(uint64_t Address,
                                    const SiteInfo &Site) const {
  if (!Site.Variable || Site.Kernel.empty())
    return {};
  // Where the shared memory of a block begins, in any of its cluster, is a
  // multiple of this.
  constexpr uint64_t Window = 1 << 24;
  const uint64_t Offset = Address % Window;
  std::string Text;
  for (const SharedUseArray &Array : SharedUses)
    for (size_t I = 0; I < Array.Last.size(); ++I) {
      const auto &[Kernel, Variable] = Array.SharedUses[I];
      const uint64_t Base = (uint64_t(Array.Last[I]) - 1) % Window;
      if (Array.Last[I] == 0 || Kernel != Site.Kernel ||
          Variable != *Site.Variable || Offset < Base ||
          (Variable.Size && Offset - Base >= Variable.Size))
        continue;
      std::string This = placeInVariable(Variable, Offset - Base);
      if (!Text.empty() && This != Text)
        return {};
      Text = std::move(This);
    }
  return Text;
}

void Context::collect(std::vector<Occurrence> &Found, uint32_t Seed,
                      const Allocations &Memory, const SiteTable &Known) const {
  if (!records())
    return;
  std::vector<abi::Site> Sites;
  for (const SiteArray &Array : Arrays)
    Sites.insert(Sites.end(), Array.Last.begin(), Array.Last.end());
  std::vector<Occurrence> More = collectOccurrences(
      *records(), Sites, UnreadLaunches == 0, Device, Seed, LastPairs);
  for (Occurrence &O : More)
    if (O.Rec.MemorySpace == abi::Space::Global) {
      const PlaceInMemory Place = describe(O.Rec.Address, Memory);
      O.Memory = Place.Words;
      O.AllocatedAt = callSites().text(Place.MadeAt);
    } else if (const SiteInfo *Site = Known.find(O.Rec.Site))
      O.Memory = describeShared(O.Rec.Address, *Site);
  std::move(More.begin(), More.end(), std::back_inserter(Found));
}

uint64_t Context::dropped() const {
  if (!records())
    return 0;
  uint64_t Told = __atomic_load_n(&records()->Dropped, __ATOMIC_RELAXED);
  return std::max(Told, LastCounters.Dropped) + LastMetadata.PairsDropped;
}

} // namespace crsan
