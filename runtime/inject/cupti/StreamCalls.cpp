// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls about streams and events.

#include "cupti/StreamCalls.h"

#include "host/HostChecks.h"
#include "session/Session.h"

namespace crsan {

/// Null if nobody asks.
static PendingWork *pending() {
  HostChecks &Checks = hostChecks();
  return Checks.hasCode() ? &Checks.pending() : nullptr;
}

static PendingWork::Stream pendingId(const DriverCall &C, CUstream Stream) {
  return {C.contextOf(Stream), C.idOf(Stream)};
}

static StreamOrder &orderOf(const DriverCall &C, CUcontext Ctx) {
  return *C.S.ordering().of(Ctx);
}

void streamCreated(const DriverCall &C, CUstream Stream, unsigned Flags) {
  const bool IsBlocking = !(Flags & CU_STREAM_NON_BLOCKING);
  orderOf(C, C.Data.context).created(C.idOf(Stream), IsBlocking);
  C.S.streamCreated(C.Data.context);
  if (PendingWork *Work = pending(); Work && !IsBlocking)
    Work->createdUnblocking({C.Data.context, C.idOf(Stream)});
}

void streamDestroyed(const DriverCall &C, CUstream Stream) {
  C.S.streamDestroyed(C.contextOf(Stream), C.idOf(Stream));
  if (PendingWork *Work = pending())
    Work->destroyed(pendingId(C, Stream));
}

void streamWaits(const DriverCall &C, CUstream Stream, CUevent Event) {
  C.S.ordering().streamWaits(C.contextOf(Stream), C.idOf(Stream), Event);
}

void streamDone(const DriverCall &C, CUstream Stream) {
  C.S.streamDone(C.contextOf(Stream), C.idOf(Stream));
  if (PendingWork *Work = pending())
    Work->streamDone(pendingId(C, Stream));
}

void given(const DriverCall &C, CUstream Stream, const char *Kernel) {
  if (PendingWork *Work = pending(); Work && hostChecks().mayCheck())
    Work->given(pendingId(C, Stream), Kernel);
}

void defaultDone(const DriverCall &C) {
  PendingWork *Work = pending();
  if (!Work)
    return;
  if (C.IsPerThread)
    Work->streamDone(pendingId(C, nullptr));
  else
    Work->defaultDone(C.Data.context);
}

void givenAnywhere(const DriverCall &C) {
  if (PendingWork *Work = pending())
    Work->givenAnywhere(C.Data.context);
}

void eventCreated(const DriverCall &C, CUevent Event) {
  orderOf(C, C.Data.context).created(Event);
}

void eventRecorded(const DriverCall &C, CUevent Event, CUstream Stream) {
  orderOf(C, C.contextOf(Stream)).recorded(Event, C.idOf(Stream));
  if (PendingWork *Work = pending())
    Work->recorded(Event, pendingId(C, Stream));
}

void eventGone(const DriverCall &C, CUevent Event) {
  C.S.ordering().eventGone(Event);
  if (PendingWork *Work = pending())
    Work->forget(Event);
}

void eventAwaited(const DriverCall &C, CUevent Event) {
  C.S.ordering().eventAwaited(Event);
}

void eventShared(const DriverCall &C, CUevent Event) {
  C.S.ordering().eventShared(Event);
  hostChecks().notes().end();
}

void eventDone(const DriverCall &C, CUevent Event) {
  C.S.eventDone(C.Data.context, Event);
  if (PendingWork *Work = pending())
    Work->eventDone(Event);
}

} // namespace crsan
