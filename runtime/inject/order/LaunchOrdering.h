//===- LaunchOrdering.h - The order between kernels -------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A StreamOrder for each context, and what its device is told of it: where the
// runs are, once there is more than one stream; which run a stream has got to,
// before a launch; and that grids may run side by side.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_ORDER_LAUNCHORDERING_H
#define CRSAN_INJECT_ORDER_LAUNCHORDERING_H

#include "order/StreamOrder.h"
#include "session/Context.h"
#include "session/Modules.h"
#include "shadow/Allocations.h"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace crsan {

/// A launch, as StreamOrder is told of it.
struct OrderedLaunch {
  StreamId Stream;
  CUstream Handle; ///< To write to.
  const char *Kernel;
  uint32_t Grid[3], Block[3];
  /// It waits for all that its stream was given before, and what comes after
  /// waits for it.
  bool IsPlain = true;
  bool MayTellHost = false;            ///< Its arguments are not known.
  std::vector<uint8_t> Arguments = {}; ///< Their bytes, one after the other.
};

/// Functions marked "driver" call the driver, and take the session's locks
/// themselves; the others need none.
class LaunchOrdering {
public:
  LaunchOrdering(std::timed_mutex &Data, std::timed_mutex &Configuring,
                 const Modules &Code, const Allocations &Memory)
      : Data(Data), Configuring(Configuring), Code(Code), Memory(Memory) {}

  /// Of a context's launches.
  std::shared_ptr<StreamOrder> of(CUcontext Ctx);
  /// The context is gone; its handle may be another one's next.
  void forget(CUcontext Ctx);

  /// (driver) A launch is about to be made in `Ctx`, of which `C` is what is
  /// kept, or null. None: one whose place in the order is not known.
  void launching(CUcontext Ctx, const std::shared_ptr<Context> &C,
                 const std::optional<OrderedLaunch> &Launch);
  /// It has been made, or has failed.
  void launched(CUcontext Ctx, const std::optional<OrderedLaunch> &Launch);

  /// A stream of the context is to wait for an event of any context.
  void streamWaits(CUcontext Ctx, StreamId Stream, CUevent Event);
  void eventDone(CUevent Event);
  void eventGone(CUevent Event);

  /// Whatever was launched, anywhere, is ordered before what will be.
  void cut();
  /// Nothing can be said of what is under way, anywhere: because of a call
  /// that has its effect at once; ...
  void lose();
  /// ... before one that has it some time, and behind it.
  void losing();
  void lost();

  /// Before the program waits for all that was launched in the context, and
  /// when that is done: `Awaited` is what the former returned.
  uint64_t awaitingIdle(CUcontext Ctx);
  void becameIdle(CUcontext Ctx, uint64_t Awaited);
  /// Whether nothing was launched in the context since awaitingIdle() returned
  /// this.
  bool isIdle(CUcontext Ctx, uint64_t Awaited);

private:
  std::vector<std::shared_ptr<StreamOrder>> all();
  void begin(Context &C, StreamOrder &Order);
  void follow(CUcontext Ctx, Context *C, StreamOrder &Order,
              const OrderedLaunch &Launch);
  void noteOverlaps(Context &C);

  std::timed_mutex &Data;
  std::timed_mutex &Configuring;
  const Modules &Code;
  const Allocations &Memory;

  std::mutex Lock; ///< Of the map. Nobody is called with it held.
  std::map<CUcontext, std::shared_ptr<StreamOrder>> Orders;
  /// Calls between losing() and lost().
  std::atomic<uint32_t> BeingLost{0};
};

} // namespace crsan

#endif // CRSAN_INJECT_ORDER_LAUNCHORDERING_H
