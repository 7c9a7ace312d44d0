// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run's copies and fills.

#include "session/Session.h"

#include "common/CallSites.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "host/HostChecks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace crsan {

/// What memory an operation accesses, as far as kernels of its context could.
struct Session::Footprint {
  enum class Home : uint8_t {
    None,    ///< No memory that they reach: pageable, an array, or none at all.
    Device,  ///< The context's.
    Hosts,   ///< The host may access it, too.
    Unknown, ///< Perhaps another context's.
  };
  Home Reads = Home::None, Writes = Home::None;
  /// The host may know at once that the operation is over, or what was before
  /// it in the stream.
  bool TellsHost = false;
};

//===----------------------------------------------------------------------===//
// What an operation accesses
//===----------------------------------------------------------------------===//

static bool holds(uint64_t Base, uint64_t Size, const OperationMemory &M) {
  return M.Base >= Base && M.Base - Base < Size &&
         M.extent() <= Size - (M.Base - Base);
}

/// Pageable memory, of which the driver makes a copy first, or last.
static bool mayBePageable(const OperationMemory &M) {
  return !M.isEmpty() && (M.What == OperationMemory::Kind::Host ||
                          M.What == OperationMemory::Kind::Either);
}

/// The caller holds the data lock.
Session::Footprint Session::footprintOf(CUcontext Ctx, const Context *C,
                                        const StreamOperation &Op) const {
  using Home = Footprint::Home;
  const auto HomeOf = [&](const OperationMemory &M) {
    if (M.isEmpty() || M.What == OperationMemory::Kind::None)
      return Home::None;
    if (const MemoryRange *Range = Memory.find(Ctx, M.Base, M.extent()))
      return Range->isHosts() ? Home::Hosts : Home::Device;
    if (C) {
      for (const auto &[Code, Range] : C->Variables)
        if (holds(Range.Base, Range.Size, M))
          return Range.isHosts() ? Home::Hosts : Home::Device;
      for (const VariableInMemory &V : C->Named)
        if (holds(V.Base, V.Variable.Size, M))
          return Home::Device;
    }
    return mayBePageable(M) && !Memory.isKnown(M.Base) ? Home::None
                                                       : Home::Unknown;
  };
  Footprint F{HomeOf(Op.Reads), HomeOf(Op.Writes)};
  // A kernel's device memory shows the host nothing. By the documentation, the
  // driver may wait for the stream before it copies pageable memory.
  const auto IsPageable = [](Home H, const OperationMemory &M) {
    return H == Home::None && mayBePageable(M);
  };
  F.TellsHost = Op.Waits || F.Writes == Home::Hosts ||
                F.Writes == Home::Unknown || IsPageable(F.Writes, Op.Writes) ||
                IsPageable(F.Reads, Op.Reads);
  return F;
}

/// As the device takes it. No such side: it is not checked.
static abi::OperationSide sideOf(const OperationMemory &M) {
  constexpr uint64_t Most = std::numeric_limits<uint32_t>::max();
  abi::OperationSide S{};
  if (!M.isRegular() || M.Height > Most || M.Depth > Most)
    return S;
  S.Base = M.Base;
  S.Width = M.Width;
  S.Pitch = M.Pitch;
  S.Slice = M.Slice;
  S.Height = uint32_t(M.Height);
  S.Depth = uint32_t(M.Depth);
  return S;
}

static bool overlap(const OperationMemory &A, const OperationMemory &B) {
  return A.Base < B.Base + B.extent() && B.Base < A.Base + A.extent();
}

/// What the kernel is to check. None: there are too many places. The caller
/// holds the data lock.
std::optional<abi::Operation> Session::toCheck(const Context &C,
                                               const StreamOperation &Op,
                                               const Footprint &F,
                                               uint32_t CallSite) {
  using Home = Footprint::Home;
  const std::optional<uint32_t> Place = Places.find(Op.Name, CallSite);
  if (!Place)
    return std::nullopt;
  const auto Describe = [&](const OperationMemory &M, Home H, uint32_t Site) {
    abi::OperationSide S{};
    // Looking at memory of the host would take longer than the copy does.
    const bool HasCells = C.TheShadow && C.Operations.isShadowed() &&
                          (H == Home::Device || H == Home::Hosts);
    const bool HasValues = Code.hasCollider() && H == Home::Device;
    if (!HasCells && !HasValues)
      return S;
    S = sideOf(M);
    if (S.Depth == 0)
      return S;
    Places.noteBytes(Site, M.bytes());
    S.Access = HasCells ? C.Operations.accessOf(Site) : 0;
    S.Site = HasValues ? C.Operations.siteOf(Site) : 0;
    S.Sampling = HasValues ? C.Operations.samplingOf(Site) : 0;
    return S;
  };
  abi::Operation O{};
  O.Writes = Describe(Op.Writes, F.Writes, *Place + 1);
  // The two sides of an operation do not race with each other.
  if (O.Writes.Depth == 0 || !overlap(Op.Reads, Op.Writes))
    O.Reads = Describe(Op.Reads, F.Reads, *Place);
  return O;
}

//===----------------------------------------------------------------------===//
// The kernel that checks
//===----------------------------------------------------------------------===//

/// Switches on the kernel that checks operations, or tells it of metadata mode.
/// The context is current. Returns what went wrong, or "".
static std::string switchOn(Context &C, const Flags &Options) {
  OperationChecks &Checks = C.Operations;
  if (!Checks.wasLoaded())
    Checks.load(C.stream());
  if (!Checks.isLoaded())
    return Checks.error();
  const bool IsShadowed = C.TheShadow != nullptr;
  const SwitchedOn On{
      .Where = Checks.config(),
      .Config = C.makeConfig(Options, /*MayShuffle=*/false, IsShadowed)};
  if (const CUresult Result = C.writeConfig(On.Where, On.Config))
    return theDriver().errorText(Result);
  std::erase_if(C.Configs,
                [&](const SwitchedOn &S) { return S.Where == On.Where; });
  C.Configs.push_back(On);
  Checks.setShadowed(IsShadowed);
  return {};
}

/// The counts of the kernel's sites are read like those of the program's. The
/// caller holds the data lock.
static void readCounts(Context &C) {
  const CUdeviceptr Sites = C.Operations.siteOf(0);
  if (!C.Operations.isLoaded() ||
      std::ranges::any_of(C.Arrays, [=](const SiteArray &Array) {
        return Array.Address == Sites;
      }))
    return;
  SiteArray &Array = C.Arrays.emplace_back();
  Array.Address = Sites;
  Array.Last.resize(abi::MaxOperationSites);
}

/// Once the program has streams that are not in order by themselves, gives
/// kernels a larger budget, and loads the kernels that check operations and, in
/// metadata mode, judge host code, which a single stream may need, too. That
/// may wait for the program's kernels, and these for what the program does
/// next: so it is done while none runs.
void Session::prepareForOverlaps(Context &C) {
  const bool Overlaps = Ordering.of(C.Handle)->hasOverlaps();
  if (C.MayRun || !(Overlaps || hostChecks().hasCode()))
    return;
  std::lock_guard Lock(Configuring);
  bool IsLoaded = false;
  {
    std::lock_guard DataLock(Data);
    const bool HasShadow = C.TheShadow != nullptr;
    IsLoaded =
        C.Operations.wasLoaded() && (C.Operations.isShadowed() || !HasShadow);
    if (!C.hasCheckedCode() || C.IsDead || C.Failure != CUDA_SUCCESS ||
        (IsLoaded && (C.IsOverlapping || !Overlaps)) ||
        !(Overlaps || HasShadow))
      return;
  }
  OwnCalls Own(C.Handle);
  if (!Own.ok())
    return;
  if (Overlaps && !C.IsOverlapping)
    if (const CUresult Result = C.setOverlapping(Options))
      theLog().detail(2, "no larger budget: {}", theDriver().errorName(Result));
  if (IsLoaded)
    return;
  const std::string Error = switchOn(C, Options);
  std::lock_guard DataLock(Data);
  if (Error.empty())
    return readCounts(C);
  // Without overlaps only host code is concerned, and the summary says how much
  // of it is not judged.
  std::string Line = fmt::format(
      "copies and fills on device {} are not checked: {}", C.Device, Error);
  if (!Overlaps)
    theLog().detail(2, "host code on device {} is not judged: {}", C.Device,
                    Error);
  else if (Said.insert(Line).second)
    theLog().say("{}", Line);
}

void Session::streamCreated(CUcontext Ctx) {
  std::shared_ptr<Context> C;
  {
    std::lock_guard Lock(Data);
    C = findContext(Ctx);
  }
  // Now, so that the first launch need not wait for it.
  if (C && !hasLaunched())
    prepareForOverlaps(*C);
}

/// A kernel, or a graph, is about to be launched.
void Session::noteWaiting(Context &C,
                          const std::optional<OrderedLaunch> &Launch,
                          CUstream Stream) {
  if (!C.Operations.isLoaded())
    return;
  {
    std::lock_guard Lock(Data);
    if (Launch && Launch->Kernel && !Code.mayWait(Launch->Kernel))
      return;
  }
  OwnCalls Own(C.Handle);
  // What is captured does not run yet.
  if (Own.ok() && !isCapturing(Stream))
    C.Operations.awaiting(Stream);
}

std::optional<NoCheck> Session::whyUnchecked(Context &C,
                                             const StreamOperation &Op,
                                             const Footprint &F) {
  using Home = Footprint::Home;
  const auto IsKnown = [](Home H) {
    return H == Home::Device || H == Home::Hosts;
  };
  if (!IsKnown(F.Reads) && !IsKnown(F.Writes))
    return NoCheck::Memory;
  {
    OwnCalls Own(C.Handle);
    if (!Own.ok() || isCapturing(Op.Handle))
      return NoCheck::Captured;
  }
  prepareForOverlaps(C);
  if (!C.Operations.isLoaded())
    return NoCheck::Code;
  if (C.Operations.mayBeAwaited())
    return NoCheck::Waiting;
  if (Ordering.mayBeHeldUp(C.Handle))
    return NoCheck::Order;
  return std::nullopt;
}

/// Launches the kernel. While it runs, the operation has not begun, and the
/// host can know nothing of it: `F` says so afterwards.
CUresult Session::launchCheck(Context &C, const StreamOperation &Op,
                              const abi::Operation &O, uint32_t Blocks,
                              Footprint &F) {
  OwnCalls Own(C.Handle);
  if (!Own.ok())
    return CUDA_ERROR_INVALID_CONTEXT;
  const CUresult Result = C.Operations.launch(Op, O, Blocks);
  if (Result != CUDA_SUCCESS || !F.TellsHost || Op.Waits)
    return Result;
  if (CUevent Event = C.Operations.mark(Op.Handle)) {
    Ordering.of(C.Handle)->tellsHostBehind(Event, Op.Stream);
    F.TellsHost = false;
  }
  return Result;
}

/// Has the kernel stand in front of the operation.
std::optional<NoCheck> Session::standIn(const std::shared_ptr<Context> &C,
                                        const StreamOperation &Op,
                                        Footprint &F) {
  const uint32_t CallSite = callSites().note();
  std::optional<abi::Operation> O;
  uint64_t Words = 0;
  {
    std::lock_guard Lock(Data);
    O = toCheck(*C, Op, F, CallSite);
    if (!O)
      return NoCheck::Places;
    Words = ((O->Reads.Depth ? Op.Reads.bytes() : 0) +
             (O->Writes.Depth ? Op.Writes.bytes() : 0)) /
            4;
  }
  if (O->Reads.Depth == 0 && O->Writes.Depth == 0)
    return NoCheck::Memory;
  constexpr uint64_t WordsOfThread = 8, BlocksOfProcessor = 4;
  const uint32_t Blocks = uint32_t(std::clamp<uint64_t>(
      Words / (WordsOfThread * abi::OperationBlock), 1,
      BlocksOfProcessor * std::max(C->Processors.Count, 1)));
  OrderedLaunch Launch{Op.Stream,
                       Op.Handle,
                       abi::OperationKernel,
                       {Blocks, 1, 1},
                       {abi::OperationBlock, 1, 1}};
  // The check kernel knows its run by number.
  Launch.ArgumentHash = abi::finishArguments(0);
  ++BeingLaunched;
  if (IsResetting)
    std::lock_guard Wait(Configuring);
  C->MayRun = true;
  O->Run = Ordering.standingIn(C->Handle, *C, Launch);
  // Without a place in the order nothing could be said of its accesses.
  if (O->Run == 0)
    O->Reads.Access = O->Writes.Access = 0;
  CUresult Result = CUDA_ERROR_NOT_FOUND;
  if (O->Reads.Access || O->Reads.Site || O->Writes.Access || O->Writes.Site)
    Result = launchCheck(*C, Op, *O, Blocks, F);
  --BeingLaunched;
  // Another thread may give the stream something before the operation comes;
  // then the program leaves open which of the two comes first.
  Ordering.launched(C->Handle, Launch);
  if (Result != CUDA_SUCCESS) {
    theLog().detail(2, "no check of {}: {}", Op.Name,
                    theDriver().errorName(Result));
    return Result == CUDA_ERROR_NOT_READY   ? NoCheck::Waiting
           : Result == CUDA_ERROR_NOT_FOUND ? NoCheck::Order
                                            : NoCheck::Refused;
  }
  std::lock_guard Lock(Data);
  ++C->UnreadLaunches;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

uint64_t Session::operating(CUcontext Ctx, const StreamOperation &Op) {
  using Home = Footprint::Home;
  std::shared_ptr<Context> C;
  Footprint F;
  bool HasFailed = false;
  {
    std::lock_guard Lock(Data);
    C = findContext(Ctx);
    F = footprintOf(Ctx, C.get(), Op);
    HasFailed = C && C->Failure != CUDA_SUCCESS;
    if (C && !C->hasCheckedCode())
      C = nullptr;
  }
  const auto FlagsOf = [&](bool IsChecked) {
    return (IsChecked ? uint64_t(IsStoodIn) : 0) |
           (F.TellsHost ? uint64_t(TellsHost) : 0);
  };
  if (C && F.TellsHost && !HasFailed)
    judgeHostBefore(*C, Op.Stream, Op.Handle);
  // The host may learn of it before the call returns to this thread.
  const auto MayTell = [&] {
    if (F.TellsHost)
      Ordering.of(Ctx)->mayTellHost(Op.Stream);
  };
  // Where all streams wait for each other, it is in order.
  if (HasFailed || (F.Reads == Home::None && F.Writes == Home::None) ||
      !Ordering.of(Ctx)->hasOverlaps()) {
    MayTell();
    return FlagsOf(false);
  }
  std::optional<NoCheck> Why = NoCheck::Early;
  if (C)
    Why = whyUnchecked(*C, Op, F);
  if (!Why)
    Why = standIn(C, Op, F);
  MayTell();
  std::lock_guard Lock(Data);
  if (Why)
    ++Operations.Unchecked[size_t(*Why)];
  else
    ++Operations.Checked;
  return FlagsOf(!Why);
}

void Session::operated(CUcontext Ctx, const StreamOperation &Op, uint64_t Flags,
                       bool HasFailed) {
  StreamOrder *const Order = Ordering.of(Ctx);
  if (HasFailed) {
    // What was checked has not happened.
    if (Flags & IsStoodIn)
      Order->lose();
    return;
  }
  if (Flags & TellsHost)
    streamDone(Ctx, Op.Stream);
  else
    Order->enqueued(Op.Stream);
}

void Session::operatingUnchecked(CUcontext Ctx, NoCheck Why) {
  if (!Ordering.of(Ctx)->hasOverlaps())
    return;
  std::lock_guard Lock(Data);
  ++Operations.Unchecked[size_t(Why)];
}

void Session::streamDestroyed(CUcontext Ctx, StreamId Stream) {
  Ordering.of(Ctx)->destroyed(Stream);
  std::shared_ptr<Context> C;
  {
    std::lock_guard Lock(Data);
    C = findContext(Ctx);
  }
  if (C)
    C->Operations.destroyed(Stream);
}

} // namespace crsan
