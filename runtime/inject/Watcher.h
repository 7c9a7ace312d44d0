//===- Watcher.h - A thread that looks on while the program runs  -*- C++
//-*--===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_WATCHER_H
#define CRSAN_INJECT_WATCHER_H

#include <functional>

namespace crsan {

/// Does two things that the program's own threads cannot: looks for races while
/// kernels run (halt_on_error), and reports on behalf of a thread that is dying
/// of a signal, which may hold any lock of the C library.
class Watcher {
public:
  /// Poll is called every PollMs milliseconds; 0: never. Dying is called once a
  /// signal handler asks.
  static void start(unsigned PollMs, std::function<void()> Poll,
                    std::function<void()> Dying);

  /// For signal handlers: has Dying called and waits until it is done, at most
  /// some seconds. Does nothing on the watcher's own thread.
  static void reportDying();
};

} // namespace crsan

#endif // CRSAN_INJECT_WATCHER_H
