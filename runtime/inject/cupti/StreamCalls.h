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

void eventCreated(const DriverCall &C, CUevent Event);
void eventRecorded(const DriverCall &C, CUevent Event, CUstream Stream);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_STREAMCALLS_H
