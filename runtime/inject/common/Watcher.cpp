// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that looks on while the program runs.

#include "common/Watcher.h"

#include "common/Signals.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

namespace crsan {

/// Posted to ask, and to answer. Semaphores because a signal handler may post
/// them, and because programs close descriptors that they do not know.
static sem_t Ask, Answer;
/// The process that has the watcher: after a fork, a child has none.
static pid_t Owner = 0;
static thread_local bool IsWatcher = false;
/// The watcher is asked to call Ending, not Dying.
static std::atomic<bool> IsEnding{false};

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

/// The main thread sets both before it ends. IsWoken goes with a post of Ask.
static std::atomic<bool> IsWoken{false}, HasMainEnded{false};

/// Whether only threads of the library are left in the process.
static bool isLastThread() {
  DIR *Tasks = opendir("/proc/self/task");
  if (!Tasks)
    return false;
  bool HasOther = false;
  while (const dirent *Task = readdir(Tasks)) {
    if (Task->d_name[0] == '.')
      continue;
    std::ifstream In(std::string("/proc/self/task/") + Task->d_name + "/stat");
    std::string Line;
    std::getline(In, Line);
    // "1 (name) Z ...": the name may have parentheses.
    const size_t First = Line.find('('), Last = Line.rfind(')');
    if (First == Line.npos || Last == Line.npos || Last + 2 >= Line.size())
      continue; // The thread has ended.
    const char State = Line[Last + 2];
    const bool HasEnded = State == 'Z' || State == 'X';
    HasOther |= !HasEnded &&
                Line.substr(First + 1, Last - First - 1) != Watcher::ThreadName;
  }
  closedir(Tasks);
  return !HasOther;
}

static void watch(unsigned PollMs, const Watcher::Tasks &What) {
  IsWatcher = true;
  pthread_setname_np(pthread_self(), Watcher::ThreadName);
  constexpr unsigned HourMs = 3600000, LookMs = 20;
  while (true) {
    unsigned Patience = PollMs ? PollMs : HourMs;
    if (HasMainEnded) {
      if (isLastThread())
        std::exit(0);
      Patience = std::min(Patience, LookMs);
    }
    if (waitFor(Ask, Patience)) {
      if (IsWoken.exchange(false))
        continue;
      (IsEnding ? What.Ending : What.Dying)();
      sem_post(&Answer);
    } else if (PollMs) {
      What.Poll();
    }
  }
}

void Watcher::start(unsigned PollMs, Tasks What) {
  sem_init(&Ask, /*pshared=*/0, 0);
  sem_init(&Answer, /*pshared=*/0, 0);
  Owner = getpid();
  const BlockedSignals Inherited;
  std::thread(watch, PollMs, std::move(What)).detach();
}

bool Watcher::canEnd() { return !IsWatcher && Owner == getpid(); }

void Watcher::mainThreadEnds() {
  if (!canEnd())
    return;
  HasMainEnded = IsWoken = true;
  sem_post(&Ask);
}

void Watcher::reportDying() {
  constexpr unsigned PatienceMs = 10000;
  if (canEnd() && sem_post(&Ask) == 0)
    waitFor(Answer, PatienceMs);
}

bool Watcher::reportEnding(unsigned PatienceMs) {
  IsEnding = true;
  return sem_post(&Ask) == 0 && waitFor(Answer, PatienceMs);
}

} // namespace crsan
