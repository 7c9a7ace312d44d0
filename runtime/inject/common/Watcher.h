// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that looks on at the program.
#ifndef CRSAN_INJECT_COMMON_WATCHER_H
#define CRSAN_INJECT_COMMON_WATCHER_H

#include <functional>

namespace crsan {

/// A thread that does what the program's threads cannot. It looks for races
/// while kernels run (halt_on_error). It reports for a thread that dies of a
/// signal or ends the program by _exit, perhaps in a signal handler: such a
/// thread may hold any lock of the C library.
class Watcher {
public:
  struct Tasks {
    std::function<void()> Poll;   ///< Called every PollMs milliseconds.
    std::function<void()> Dying;  ///< Called once a signal handler asks.
    std::function<void()> Ending; ///< Called before the program ends by _exit.
  };
  /// PollMs: 0 never polls.
  static void start(unsigned PollMs, Tasks What);

  /// For signal handlers: makes the watcher call Dying, and waits for its end,
  /// at most some seconds. Does nothing on the watcher's own thread.
  static void reportDying();

  /// The main thread ends before the process does. The process has to end with
  /// the last of the program's threads: the watcher calls exit when only
  /// threads of the library are left.
  static void mainThreadEnds();
  /// The name of the library's threads that may never end.
  static constexpr char ThreadName[] = "crsan-helper";

  /// Whether this process has a watcher, and this thread is another one.
  static bool canEnd();
  /// Makes the watcher call Ending. False: Ending did not return in time.
  static bool reportEnding(unsigned PatienceMs);
};

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_WATCHER_H
