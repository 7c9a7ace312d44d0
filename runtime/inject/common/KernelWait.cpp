// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the program that wait for kernels.

#include "common/KernelWait.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace crsan {

/// When each thread began to wait; 0: the thread does not wait.
static std::array<std::atomic<int64_t>, 256> Begun;
static std::atomic<size_t> NumThreads{0};

namespace {
struct Waiter {
  const size_t Number = NumThreads++;
  unsigned Depth = 0;

  void set(int64_t When) const {
    if (Number < Begun.size())
      Begun[Number] = When;
  }
  ~Waiter() { set(0); }
};
} // namespace

static thread_local Waiter ThisThread;

static int64_t now() {
  return std::chrono::nanoseconds(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void KernelWait::begin() {
  if (ThisThread.Depth++ == 0)
    ThisThread.set(now());
}

void KernelWait::end() {
  if (ThisThread.Depth > 0 && --ThisThread.Depth == 0)
    ThisThread.set(0);
}

std::chrono::nanoseconds KernelWait::longest() {
  const int64_t Now = now();
  int64_t Longest = 0;
  for (const std::atomic<int64_t> &Time : Begun)
    if (const int64_t Start = Time)
      Longest = std::max(Longest, Now - Start);
  return std::chrono::nanoseconds(Longest);
}

} // namespace crsan
