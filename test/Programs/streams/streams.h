// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams and events of the tricky programs.
#ifndef CRSAN_TEST_PROGRAMS_STREAMS_H
#define CRSAN_TEST_PROGRAMS_STREAMS_H

#include "../check.h"

/// A stream that does not wait for the default stream, nor it for this one.
inline cudaStream_t makeStream() {
  cudaStream_t Stream;
  CHECK(cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking));
  return Stream;
}

inline cudaEvent_t makeEvent() {
  cudaEvent_t Event;
  CHECK(cudaEventCreateWithFlags(&Event, cudaEventDisableTiming));
  return Event;
}

/// All that \p To is given from now on comes after all that \p From was given.
inline void order(cudaStream_t From, cudaStream_t To) {
  cudaEvent_t Event = makeEvent();
  CHECK(cudaEventRecord(Event, From));
  CHECK(cudaStreamWaitEvent(To, Event));
  CHECK(cudaEventDestroy(Event));
}

#endif // CRSAN_TEST_PROGRAMS_STREAMS_H
