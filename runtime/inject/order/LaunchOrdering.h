// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order between kernels.
//
// Keeps a StreamOrder for each context, and tells the device about it: the
// address of the runs, once there is more than one stream; the run that a
// stream has reached, before a launch; and that grids may run side by side.
#ifndef CRSAN_INJECT_ORDER_LAUNCHORDERING_H
#define CRSAN_INJECT_ORDER_LAUNCHORDERING_H

#include "order/StreamOrder.h"
#include "session/Context.h"
#include "session/Modules.h"
#include "shadow/Allocations.h"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace crsan {

/// A launch of one kernel into a known stream.
struct OrderedLaunch {
  StreamId Stream;
  CUstream Handle; ///< The stream, as functions of the driver take it.
  const char *Kernel;
  uint32_t Grid[3], Block[3];
  /// The grid begins when all earlier work of its stream has ended, and later
  /// work of the stream begins when the grid has ended.
  bool IsPlain = true;
  bool MayTellHost = false;            ///< The arguments are not known.
  std::vector<uint8_t> Arguments = {}; ///< The bytes of all arguments.
  /// Of the arguments (abi::finishArguments); 0: they are not known.
  uint32_t ArgumentHash = 0;
};

/// Functions marked "driver" call the driver, and take the session's locks
/// themselves. No other function needs a lock of the session.
class LaunchOrdering {
public:
  LaunchOrdering(std::timed_mutex &Data, std::timed_mutex &Configuring,
                 const Modules &Code, const Allocations &Memory)
      : Data(Data), Configuring(Configuring), Code(Code), Memory(Memory),
        Generation(newGeneration()) {}

  /// Called once, before it matters what events a stream records: before the
  /// order of launches is followed, or when host code is checked. Returns
  /// whether eventRecorded() is called from now on; else the order is not
  /// followed. To be set before any call is told.
  std::function<bool()> OnEventsNeeded;
  /// Returns what OnEventsNeeded has returned; true if there is none.
  bool needEvents();

  /// Whether it matters what arguments the next launch in the context has.
  bool needsArguments(CUcontext Ctx);

  /// The order of a context's launches, which lives as long as this object.
  StreamOrder *of(CUcontext Ctx);
  /// The context is gone. The handle may be given to another context.
  void forget(CUcontext Ctx);

  /// (driver) The program is about to launch in `Ctx`. `C`: what the session
  /// keeps for that context, or null. `Launch`: none where the launch has no
  /// known place in the order.
  void launching(CUcontext Ctx, const std::shared_ptr<Context> &C,
                 const std::optional<OrderedLaunch> &Launch);
  /// The launch has been made, or has failed.
  void launched(CUcontext Ctx, const std::optional<OrderedLaunch> &Launch);
  /// (driver) The library is about to launch a kernel of its own, which stands
  /// for an operation of the stream. Returns the kernel's run, or 0 if nothing
  /// is known of the order.
  uint32_t standingIn(CUcontext Ctx, Context &C, const OrderedLaunch &Launch);
  /// Whether work of the context's streams may wait for something that is not
  /// known.
  bool mayBeHeldUp(CUcontext Ctx);

  /// A stream of the context is to wait for an event of any context.
  void streamWaits(CUcontext Ctx, StreamId Stream, CUevent Event);
  /// This thread begins to wait for the event, or asks about it; ...
  void eventAwaited(CUevent Event);
  /// ... which has happened, as it was recorded when the call began.
  void eventDone(CUevent Event);
  void eventGone(CUevent Event);
  /// Another process has the event, too: it may record it and wait for it.
  void eventShared(CUevent Event);

  /// All launches so far, in any context, are ordered before all later ones.
  void cut();
  /// The order is unknown in all contexts until they are idle, because of a
  /// call that has its effect at once, ...
  void lose();
  /// ... or of a call that has it at some time between losing() and lost().
  void losing();
  void lost();

  /// To be called before the program waits for all work of the context, and
  /// after. `Awaited`: what awaitingIdle() returned.
  uint64_t awaitingIdle(CUcontext Ctx);
  void becameIdle(CUcontext Ctx, uint64_t Awaited);
  /// Whether nothing was launched in the context since awaitingIdle() returned
  /// this.
  bool isIdle(CUcontext Ctx, uint64_t Awaited);

private:
  StreamOrder *lookUp(CUcontext Ctx);
  std::vector<StreamOrder *> all();
  void begin(Context &C, StreamOrder &Order);
  void enter(CUcontext Ctx, StreamOrder &Order, const OrderedLaunch &Launch,
             CUdeviceptr Shared, bool TellsHost);
  void noteHappened(Context &C, StreamOrder &Order);
  void noteOverlaps(Context &C, const StreamOrder &Order);
  void follow(CUcontext Ctx, Context *C, StreamOrder &Order,
              const OrderedLaunch &Launch);
  void note(Context &C, bool Context::*IsKnown, uint32_t abi::Metadata::*Fact);
  static uint64_t newGeneration();

  std::timed_mutex &Data;
  std::timed_mutex &Configuring;
  const Modules &Code;
  const Allocations &Memory;

  bool isShared(CUevent Event);

  /// Of the map and the set. Released before any other lock is taken.
  std::mutex Lock;
  std::set<CUevent> SharedEvents;
  std::map<CUcontext, std::unique_ptr<StreamOrder>> Orders;
  std::vector<std::unique_ptr<StreamOrder>>
      Past; ///< Of contexts that are gone.
  /// What threads know of Orders holds as long as this is the same. No two
  /// objects of this class ever have the same.
  std::atomic<uint64_t> Generation;
  /// Of runs, which have one number over all contexts.
  std::atomic<uint32_t> NextRun{1};
  std::once_flag NeedsEvents;
  bool HearsOfEvents = true;
  /// Calls between losing() and lost().
  std::atomic<uint32_t> BeingLost{0};
};

} // namespace crsan

#endif // CRSAN_INJECT_ORDER_LAUNCHORDERING_H
