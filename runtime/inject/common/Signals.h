// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports when a signal ends the program.
#ifndef CRSAN_INJECT_COMMON_SIGNALS_H
#define CRSAN_INJECT_COMMON_SIGNALS_H

#include <signal.h>

namespace crsan {

/// Blocks all signals for this thread in a scope; `ButCrashes`: except those
/// that an instruction of the thread itself raises. Threads that are started in
/// the scope never handle a blocked signal: signals are for the program's own
/// threads.
class BlockedSignals {
public:
  explicit BlockedSignals(bool ButCrashes = false) {
    sigset_t All;
    sigfillset(&All);
    if (ButCrashes)
      for (int Crash : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
        sigdelset(&All, Crash);
    pthread_sigmask(SIG_BLOCK, &All, &Before);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &Before, nullptr); }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t Before;
};

/// From now on the report appears before a deadly signal takes effect; the exit
/// status stays the signal's. Handlers that the program has installed stay. One
/// for a request to stop (SIGINT, SIGTERM, ...) is left alone, since such a
/// program goes on or ends in another way. One for a crash runs after the
/// report.
void installSignalHandlers();

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_SIGNALS_H
