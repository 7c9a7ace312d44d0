//===- Signals.h - Reports when a signal ends the program -------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_COMMON_SIGNALS_H
#define CRSAN_INJECT_COMMON_SIGNALS_H

#include <signal.h>

namespace crsan {

/// Blocks all signals for this thread while it exists. Threads that are started
/// meanwhile never handle one: the program's signals are not for our threads.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t All;
    sigfillset(&All);
    pthread_sigmask(SIG_SETMASK, &All, &Before);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &Before, nullptr); }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t Before;
};

/// From now on the report appears before a deadly signal takes effect; the exit
/// status stays the signal's. A program's own handlers are respected: those for
/// requests to stop (SIGINT, SIGTERM, ...) are left in place, since such a
/// program goes on or ends in another way; those for crashes run after us.
void installSignalHandlers();

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_SIGNALS_H
