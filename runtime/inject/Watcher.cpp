//===- Watcher.cpp - A thread that looks on while the program runs --------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Watcher.h"

#include <cerrno>
#include <ctime>
#include <thread>

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

namespace crsan {

/// Posted to ask, and to answer. Semaphores because a signal handler may post
/// them, and because programs close descriptors that they do not know.
static sem_t Ask, Answer;
/// The process that has the watcher: after a fork, a child has none.
static pid_t Owner = 0;
static thread_local bool IsWatcher = false;

static bool waitFor(sem_t &Semaphore, unsigned Milliseconds) {
  timespec Until;
  clock_gettime(CLOCK_REALTIME, &Until);
  Until.tv_sec += Milliseconds / 1000;
  Until.tv_nsec += long(Milliseconds % 1000) * 1000000;
  if (Until.tv_nsec >= 1000000000) {
    ++Until.tv_sec;
    Until.tv_nsec -= 1000000000;
  }
  int Result;
  do
    Result = sem_timedwait(&Semaphore, &Until);
  while (Result != 0 && errno == EINTR);
  return Result == 0;
}

static void watch(unsigned PollMs, const std::function<void()> &Poll,
                  const std::function<void()> &Dying) {
  IsWatcher = true;
  constexpr unsigned HourMs = 3600000;
  while (true) {
    if (waitFor(Ask, PollMs ? PollMs : HourMs)) {
      Dying();
      sem_post(&Answer);
    } else if (PollMs) {
      Poll();
    }
  }
}

void Watcher::start(unsigned PollMs, std::function<void()> Poll,
                    std::function<void()> Dying) {
  sem_init(&Ask, /*pshared=*/0, 0);
  sem_init(&Answer, /*pshared=*/0, 0);
  Owner = getpid();
  // Inherited: the program's signals are not for this thread.
  sigset_t All, Before;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Before);
  std::thread(watch, PollMs, std::move(Poll), std::move(Dying)).detach();
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
}

void Watcher::reportDying() {
  if (IsWatcher || Owner != getpid())
    return;
  constexpr unsigned PatienceMs = 10000;
  if (sem_post(&Ask) == 0)
    waitFor(Answer, PatienceMs);
}

} // namespace crsan
