// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host threads that share out work.
#include "Crew.h"

#include <algorithm>
#include <signal.h>

using namespace crsan::sim;

Crew::Crew(unsigned Threads, uint32_t Pieces, std::function<void(uint32_t)> Do)
    : Pieces(Pieces), Do(std::move(Do)), Next(Pieces) {
  // Signals are for the threads that the program knows.
  sigset_t All, Before;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Before);
  for (unsigned N = 1; N < std::min(Threads, Pieces); ++N)
    Helpers.emplace_back([this] { help(); });
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
}

Crew::~Crew() {
  IsOver = true;
  ++Round;
  Round.notify_all();
  for (std::thread &T : Helpers)
    T.join();
}

void Crew::run() {
  Done = 0;
  Next = 0; // Releases what the caller has prepared.
  ++Round;
  Round.notify_all();
  work();
  for (uint32_t Seen = Done; Seen != Pieces; Seen = Done)
    Done.wait(Seen);
}

void Crew::help() {
  // As all threads that the program does not know
  // (runtime/inject/common/Watcher.h).
  pthread_setname_np(pthread_self(), "crsan-helper");
  for (uint32_t Seen = 0; !IsOver; Seen = Round) {
    work();
    Round.wait(Seen);
  }
}

void Crew::work() {
  // Whoever comes late finds nothing, or pieces of the next round.
  while (Next < Pieces) {
    uint32_t Mine = Next++;
    if (Mine >= Pieces)
      return;
    Do(Mine);
    if (++Done == Pieces)
      Done.notify_all();
  }
}
