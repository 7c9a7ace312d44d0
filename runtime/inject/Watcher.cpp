//===- Watcher.cpp - A thread that looks on while the program runs --------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Watcher.h"

#include "Log.h"

#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace crsan {

/// A byte in the first asks, a byte in the second answers. Pipes because a
/// signal handler may use little else.
static int Ask[2] = {-1, -1};
static int Answer[2] = {-1, -1};
static pid_t Owner = 0;
static thread_local bool IsWatcher = false;

static bool waitFor(int Descriptor, int Milliseconds) {
  pollfd Wanted{.fd = Descriptor, .events = POLLIN, .revents = 0};
  if (poll(&Wanted, 1, Milliseconds) <= 0)
    return false;
  char Byte;
  return read(Descriptor, &Byte, 1) == 1;
}

static void watch(unsigned PollMs, const std::function<void()> &Poll,
                  const std::function<void()> &Dying) {
  IsWatcher = true;
  while (true) {
    if (waitFor(Ask[0], PollMs ? int(PollMs) : -1)) {
      Dying();
      [[maybe_unused]] ssize_t Ignored = write(Answer[1], "x", 1);
    } else if (PollMs) {
      Poll();
    }
  }
}

void Watcher::start(unsigned PollMs, std::function<void()> Poll,
                    std::function<void()> Dying) {
  if (pipe2(Ask, O_CLOEXEC) != 0 || pipe2(Answer, O_CLOEXEC) != 0) {
    theLog().say("cannot make a pipe ({}); races are not reported if the "
                 "program is killed",
                 std::strerror(errno));
    return;
  }
  Owner = getpid();
  sigset_t All, Before;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Before);
  std::thread(watch, PollMs, std::move(Poll), std::move(Dying)).detach();
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
}

void Watcher::reportDying() {
  // After a fork the watcher is in the parent only.
  if (IsWatcher || Owner != getpid())
    return;
  constexpr int PatienceMs = 10000;
  if (write(Ask[1], "x", 1) == 1)
    waitFor(Answer[0], PatienceMs);
}

} // namespace crsan
