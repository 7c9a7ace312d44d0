// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls about streams and events.
#ifndef CRSAN_INJECT_CUPTI_STREAMCALLS_H
#define CRSAN_INJECT_CUPTI_STREAMCALLS_H

#include "cupti/DriverCall.h"

namespace crsan {

// Each call has succeeded, but streamDestroyed() is told before.

void streamCreated(const DriverCall &C, CUstream Stream, unsigned Flags);
void streamDestroyed(const DriverCall &C, CUstream Stream);
/// The stream waits for the event.
void streamWaits(const DriverCall &C, CUstream Stream, CUevent Event);
/// The host knows that all work of the stream is done.
void streamDone(const DriverCall &C, CUstream Stream);
/// The host knows that all work of the default stream is done, and of the
/// streams that it waits for.
void defaultDone(const DriverCall &C);
/// The stream is given a kernel (mangled), or something else (null), or some
/// stream may have been given something.
void given(const DriverCall &C, CUstream Stream, const char *Kernel);
void givenAnywhere(const DriverCall &C);

void eventCreated(const DriverCall &C, CUevent Event);
void eventRecorded(const DriverCall &C, CUevent Event, CUstream Stream);
void eventGone(const DriverCall &C, CUevent Event);
/// Another process has the event, too.
void eventShared(const DriverCall &C, CUevent Event);
/// The host begins to wait for the event, or asks about it, ...
void eventAwaited(const DriverCall &C, CUevent Event);
/// ... and knows that all work before the event is done.
void eventDone(const DriverCall &C, CUevent Event);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_STREAMCALLS_H
