// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls about streams and events.

#include "cupti/StreamCalls.h"

#include "session/Session.h"

namespace crsan {

static StreamOrder &orderOf(const DriverCall &C, CUcontext Ctx) {
  return *C.S.ordering().of(Ctx);
}

void streamCreated(const DriverCall &C, CUstream Stream, unsigned Flags) {
  const bool IsBlocking = !(Flags & CU_STREAM_NON_BLOCKING);
  orderOf(C, C.Data.context).created(C.idOf(Stream), IsBlocking);
}

void streamDestroyed(const DriverCall &C, CUstream Stream) {
  C.S.streamDestroyed(C.contextOf(Stream), C.idOf(Stream));
}

void streamWaits(const DriverCall &C, CUstream Stream, CUevent Event) {
  C.S.ordering().streamWaits(C.contextOf(Stream), C.idOf(Stream), Event);
}

void streamDone(const DriverCall &C, CUstream Stream) {
  orderOf(C, C.contextOf(Stream)).streamDone(C.idOf(Stream));
}

void eventCreated(const DriverCall &C, CUevent Event) {
  orderOf(C, C.Data.context).created(Event);
}

void eventRecorded(const DriverCall &C, CUevent Event, CUstream Stream) {
  orderOf(C, C.contextOf(Stream)).recorded(Event, C.idOf(Stream));
}

} // namespace crsan
