//===- Watcher.h - A thread that looks on while the program runs  -*- C++
//-*--===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_COMMON_WATCHER_H
#define CRSAN_INJECT_COMMON_WATCHER_H

#include <functional>

namespace crsan {

/// Does what the program's own threads cannot: looks for races while kernels
/// run (halt_on_error), and reports on behalf of a thread that is dying of a
/// signal, or ends the program by _exit, perhaps in a signal handler: it may
/// hold any lock of the C library.
class Watcher {
public:
  struct Tasks {
    std::function<void()> Poll;   ///< Called every PollMs milliseconds.
    std::function<void()> Dying;  ///< Called once a signal handler asks.
    std::function<void()> Ending; ///< Called before the program ends by _exit.
  };
  /// PollMs: 0 never polls.
  static void start(unsigned PollMs, Tasks What);

  /// For signal handlers: has Dying called and waits until it is done, at most
  /// some seconds. Does nothing on the watcher's own thread.
  static void reportDying();

  /// The main thread ends before the process does. The process ends with the
  /// last of the program's threads, of which ours are none: the watcher calls
  /// exit when no others are left.
  static void mainThreadEnds();
  /// What threads of ours that do not end by themselves are named.
  static constexpr char ThreadName[] = "crsan-helper";

  /// Whether a thread of this process, which is not the watcher, can have
  /// Ending called.
  static bool canEnd();
  /// Has Ending called. False: it was not done after the time given.
  static bool reportEnding(unsigned PatienceMs);
};

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_WATCHER_H
