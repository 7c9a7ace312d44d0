// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports when a signal ends the program.

#include "common/Signals.h"

#include "common/Watcher.h"

#include <cerrno>

#include <signal.h>

namespace crsan {

namespace {
struct Handled {
  int Number;
  bool IsCrash;
  struct sigaction Before{};
};
} // namespace

static Handled Table[] = {
    {SIGABRT, true},    {SIGSEGV, true},  {SIGBUS, true},   {SIGFPE, true},
    {SIGILL, true},     {SIGSYS, true},   {SIGTERM, false}, {SIGINT, false},
    {SIGHUP, false},    {SIGQUIT, false}, {SIGALRM, false}, {SIGPIPE, false},
    {SIGUSR1, false},   {SIGUSR2, false}, {SIGXCPU, false}, {SIGXFSZ, false},
    {SIGVTALRM, false}, {SIGPROF, false}, {SIGIO, false},   {SIGPWR, false},
};

static void onSignal(int Number, siginfo_t *Info, void *Machine) {
  int Errno = errno;
  Watcher::reportDying();
  for (Handled &H : Table) {
    if (H.Number != Number)
      continue;
    if (H.Before.sa_flags & SA_SIGINFO) {
      H.Before.sa_sigaction(Number, Info, Machine);
    } else if (H.Before.sa_handler != SIG_DFL &&
               H.Before.sa_handler != SIG_IGN) {
      H.Before.sa_handler(Number);
    } else {
      // Pending while we are here, delivered as we return.
      sigaction(Number, &H.Before, nullptr);
      raise(Number);
    }
  }
  errno = Errno;
}

void installSignalHandlers() {
  for (Handled &H : Table) {
    if (sigaction(H.Number, nullptr, &H.Before) != 0)
      continue;
    bool HasHandler =
        (H.Before.sa_flags & SA_SIGINFO) ||
        (H.Before.sa_handler != SIG_DFL && H.Before.sa_handler != SIG_IGN);
    bool IsIgnored =
        !(H.Before.sa_flags & SA_SIGINFO) && H.Before.sa_handler == SIG_IGN;
    if (IsIgnored || (HasHandler && !H.IsCrash))
      continue;
    struct sigaction Ours{};
    Ours.sa_sigaction = onSignal;
    Ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&Ours.sa_mask);
    sigaction(H.Number, &Ours, nullptr);
  }
}

} // namespace crsan
