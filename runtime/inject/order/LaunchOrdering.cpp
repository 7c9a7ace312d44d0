// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order between kernels.

#include "order/LaunchOrdering.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "host/HostChecks.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace crsan {

uint64_t LaunchOrdering::newGeneration() {
  static std::atomic<uint64_t> Last{0};
  return ++Last;
}

StreamOrder *LaunchOrdering::lookUp(CUcontext Ctx) {
  std::lock_guard Guard(Lock);
  std::unique_ptr<StreamOrder> &Kept = Orders[Ctx];
  if (!Kept)
    Kept = std::make_unique<StreamOrder>(&NextRun);
  return Kept.get();
}

StreamOrder *LaunchOrdering::of(CUcontext Ctx) {
  // A launch asks several times, and may come every few microseconds.
  struct Answer {
    uint64_t Generation;
    CUcontext Ctx;
    StreamOrder *Order;
  };
  static thread_local Answer Last = {0, nullptr, nullptr};
  if (const uint64_t Now = Generation;
      Last.Generation != Now || Last.Ctx != Ctx)
    Last = {Now, Ctx, lookUp(Ctx)};
  // Checks of host code, which may be loaded at any time, ask for the order of
  // a single stream, too; in metadata mode from the first launch on.
  const HostChecks &Host = hostChecks();
  if (Host.mayCheck() || (Host.hasCode() && Code.hasShadowed())) {
    needEvents();
    Last.Order->want();
  }
  return Last.Order;
}

bool LaunchOrdering::needsArguments(CUcontext Ctx) {
  const StreamOrder *const Order = of(Ctx);
  return Order->isFollowing() || (Order->isWanted() && Code.hasShadowed());
}

bool LaunchOrdering::needEvents() {
  std::call_once(NeedsEvents, [this] {
    if (OnEventsNeeded)
      HearsOfEvents = OnEventsNeeded();
  });
  return HearsOfEvents;
}

std::vector<StreamOrder *> LaunchOrdering::all() {
  std::lock_guard Guard(Lock);
  std::vector<StreamOrder *> All;
  for (const auto &[Ctx, Order] : Orders)
    All.push_back(Order.get());
  return All;
}

void LaunchOrdering::forget(CUcontext Ctx) {
  std::lock_guard Guard(Lock);
  if (auto Gone = Orders.extract(Ctx)) {
    Past.push_back(std::move(Gone.mapped()));
    Generation = newGeneration();
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Tells the device the address of the runs.
void LaunchOrdering::begin(Context &C, StreamOrder &Order) {
  {
    std::lock_guard DataLock(Data);
    if (!C.TheShadow || !C.TheShadow->canShareOrder() ||
        C.Failure != CUDA_SUCCESS)
      return;
  }
  // begin() orders what was recorded before, or knows no order.
  if (!needEvents())
    return;
  std::lock_guard ConfigurationLock(Configuring);
  OwnCalls Own(C.Handle);
  if (!Own.ok())
    return;
  if (abi::StreamOrder *Shared = C.TheShadow->shareOrder()) {
    Order.begin(Shared);
    hostChecks().notes().begin();
  }
}

/// Makes the stream write which run it has reached. False: that is impossible.
static bool writeMark(CUcontext Ctx, CUstream Stream, CUdeviceptr Order,
                      const StreamOrder::Mark &Mark) {
  OwnCalls Own(Ctx);
  if (!Own.ok())
    return false;
  Driver &D = theDriver();
  // A capture would make the write a part of the program's graph.
  if (isCapturing(Stream))
    return false;
  const CUdeviceptr Where = Order + offsetof(abi::StreamOrder, Current) +
                            Mark.Stream * sizeof(uint32_t);
  const CUresult Result = D.cuStreamWriteValue32(Stream, Where, Mark.Run,
                                                 CU_STREAM_WRITE_VALUE_DEFAULT);
  if (Result != CUDA_SUCCESS)
    theLog().detail(2, "cuStreamWriteValue32: {}", D.errorName(Result));
  return Result == CUDA_SUCCESS;
}

/// The launch is made next in its stream, which says so to the device.
void LaunchOrdering::enter(CUcontext Ctx, StreamOrder &Order,
                           const OrderedLaunch &Launch, CUdeviceptr Shared,
                           bool TellsHost) {
  std::optional<uint32_t> OfKernel, OfArguments;
  if (Order.isFollowing()) {
    const char *Kernel = Launch.Kernel ? Launch.Kernel : "";
    const uint32_t Shape =
        abi::shapeHash(abi::kernelTag(Kernel, std::strlen(Kernel)),
                       Launch.Grid[0], Launch.Grid[1], Launch.Grid[2],
                       Launch.Block[0], Launch.Block[1], Launch.Block[2]);
    OfKernel = abi::kernelBit(Shape);
    if (Launch.ArgumentHash)
      OfArguments = abi::argumentsBit(Shape, Launch.ArgumentHash);
  }
  HostNotes &Notes = hostChecks().notes();
  const std::optional<StreamOrder::Mark> Mark = Order.launching(
      Launch.Stream, OfKernel, TellsHost, OfArguments, Notes.newest());
  if (!Mark)
    return;
  Notes.given(Mark->Run);
  if (!writeMark(Ctx, Launch.Handle, Shared, *Mark))
    Order.lose();
}

void LaunchOrdering::follow(CUcontext Ctx, Context *C, StreamOrder &Order,
                            const OrderedLaunch &Launch) {
  if (C && Order.isWanted())
    begin(*C, Order);
  bool IsFollowed = false, TellsHost = Launch.MayTellHost;
  CUdeviceptr Shared = 0;
  {
    std::lock_guard DataLock(Data);
    if (C && C->TheShadow) {
      IsFollowed =
          Launch.IsPlain && Launch.Kernel && Code.isShadowed(Launch.Kernel);
      Shared = C->TheShadow->orderAddress();
      TellsHost |=
          std::any_of(C->Variables.begin(), C->Variables.end(),
                      [](const auto &Entry) { return Entry.second.isHosts(); });
    }
    TellsHost |= Memory.mayPointToHosts(Launch.Arguments);
  }
  // How kernels without metadata mode synchronize is not known.
  if (!IsFollowed)
    Order.launchingUnfollowed();
  enter(Ctx, Order, Launch, Shared, TellsHost);
}

/// Tells the device once that `Fact` holds from now on.
void LaunchOrdering::note(Context &C, bool Context::*IsKnown,
                          uint32_t abi::Metadata::*Fact) {
  {
    std::lock_guard DataLock(Data);
    if (!C.TheShadow || std::exchange(C.*IsKnown, true))
      return;
  }
  std::lock_guard ConfigurationLock(Configuring);
  if (OwnCalls Own(C.Handle); Own.ok())
    C.TheShadow->note(Fact);
}

void LaunchOrdering::launching(CUcontext Ctx, const std::shared_ptr<Context> &C,
                               const std::optional<OrderedLaunch> &Launch) {
  StreamOrder *const Order = of(Ctx);
  if (C)
    noteHappened(*C, *Order);
  if (Launch) {
    follow(Ctx, C.get(), *Order, *Launch);
    if (!Launch->IsPlain)
      Order->launchingAnywhere();
  } else {
    Order->launchingAnywhere();
    losing();
  }
  if (C)
    noteOverlaps(*C, *Order);
  // What launches several kernels, or is not known, may be a graph.
  if (C && !Launch)
    note(*C, &Context::KnowsRepeats, &abi::Metadata::GridsRepeat);
}

/// Finds out which operations the host may know of when it is about to launch.
void LaunchOrdering::noteHappened(Context &C, StreamOrder &Order) {
  const std::vector<CUevent> Events = Order.awaited();
  if (Events.empty())
    return;
  OwnCalls Own(C.Handle);
  for (CUevent Event : Events)
    if (!Own.ok() || theDriver().cuEventQuery(Event) != CUDA_ERROR_NOT_READY)
      if (Order.happened(Event))
        C.Operations.giveBack(Event);
}

/// Memory that one grid only reads may be written by a grid or a copy beside
/// it: checks that assume otherwise are switched off.
void LaunchOrdering::noteOverlaps(Context &C, const StreamOrder &Order) {
  if (Order.hasOverlaps())
    note(C, &Context::KnowsOverlaps, &abi::Metadata::HasOverlaps);
}

uint32_t LaunchOrdering::standingIn(CUcontext Ctx, Context &C,
                                    const OrderedLaunch &Launch) {
  StreamOrder *const Order = of(Ctx);
  noteHappened(C, *Order);
  if (Order->isWanted())
    begin(C, *Order);
  CUdeviceptr Shared = 0;
  {
    std::lock_guard DataLock(Data);
    if (C.TheShadow)
      Shared = C.TheShadow->orderAddress();
  }
  enter(Ctx, *Order, Launch, Shared, /*TellsHost=*/false);
  noteOverlaps(C, *Order);
  return Order->lastRun(Launch.Stream);
}

bool LaunchOrdering::mayBeHeldUp(CUcontext Ctx) {
  return BeingLost || of(Ctx)->mayBeHeldUp();
}

void LaunchOrdering::launched(CUcontext Ctx,
                              const std::optional<OrderedLaunch> &Launch) {
  if (Launch)
    of(Ctx)->launched(Launch->Stream);
  else
    lost();
}

//===----------------------------------------------------------------------===//
// What orders them
//===----------------------------------------------------------------------===//

void LaunchOrdering::streamWaits(CUcontext Ctx, StreamId Stream,
                                 CUevent Event) {
  StreamOrder *const Own = of(Ctx);
  if (Own->knows(Event) && !isShared(Event))
    return Own->waits(Stream, Event);
  // The event belongs to another context, or process. Its launches may be
  // ordered before later ones of this context, and this context's before those.
  eventDone(Event);
  Own->lose();
}

/// What was before the event when the thread began to wait for it: another
/// thread may record or destroy it meanwhile.
static thread_local std::vector<std::pair<StreamOrder *, StreamOrder::Known>>
    BeforeAwaited;

void LaunchOrdering::eventAwaited(CUevent Event) {
  BeforeAwaited.clear();
  for (StreamOrder *Order : all())
    if (const auto Known = Order->before(Event))
      BeforeAwaited.emplace_back(Order, *Known);
}

void LaunchOrdering::eventDone(CUevent Event) {
  if (isShared(Event))
    return cut();
  for (const auto &[Order, Known] : std::exchange(BeforeAwaited, {}))
    Order->done(Known);
  for (StreamOrder *Order : all())
    Order->eventDone(Event);
}

bool LaunchOrdering::isShared(CUevent Event) {
  std::lock_guard Guard(Lock);
  return SharedEvents.contains(Event);
}

void LaunchOrdering::eventShared(CUevent Event) {
  std::lock_guard Guard(Lock);
  SharedEvents.insert(Event);
}

void LaunchOrdering::eventGone(CUevent Event) {
  {
    std::lock_guard Guard(Lock);
    SharedEvents.erase(Event);
  }
  for (StreamOrder *Order : all())
    Order->forget(Event);
}

void LaunchOrdering::cut() {
  // The host may know of whatever it had not waited for.
  hostChecks().notes().forget();
  for (StreamOrder *Order : all())
    Order->cut();
}

void LaunchOrdering::lose() {
  for (StreamOrder *Order : all())
    Order->lose();
}

void LaunchOrdering::losing() {
  ++BeingLost;
  lose();
}

void LaunchOrdering::lost() {
  // The context may have become idle before the call had any effect.
  lose();
  --BeingLost;
}

uint64_t LaunchOrdering::awaitingIdle(CUcontext Ctx) {
  return BeingLost ? StreamOrder::NeverIdle : of(Ctx)->beforeIdle();
}

bool LaunchOrdering::isIdle(CUcontext Ctx, uint64_t Awaited) {
  return !BeingLost && of(Ctx)->isIdle(Awaited);
}

void LaunchOrdering::becameIdle(CUcontext Ctx, uint64_t Awaited) {
  of(Ctx)->becameIdle(BeingLost ? StreamOrder::NeverIdle : Awaited);
}

} // namespace crsan
