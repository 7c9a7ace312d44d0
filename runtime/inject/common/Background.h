// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work on a thread of its own.
#ifndef CRSAN_INJECT_COMMON_BACKGROUND_H
#define CRSAN_INJECT_COMMON_BACKGROUND_H

#include "common/Signals.h"
#include "common/Watcher.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <pthread.h>

namespace crsan {

/// Work that may never end, such as a driver call that waits for a kernel. It
/// runs on a thread of its own, which is left alone if the work takes too long.
template <typename Result> class Background {
public:
  using Clock = std::chrono::steady_clock;

  static std::shared_ptr<Background> start(std::function<Result()> Work) {
    auto Job = std::make_shared<Background>();
    const BlockedSignals Inherited; // The thread must not handle any.
    std::thread([Job, Work = std::move(Work)] {
      pthread_setname_np(pthread_self(), Watcher::ThreadName);
      Result Value = Work();
      std::lock_guard Guard(Job->Lock);
      Job->Value = std::move(Value);
      Job->Changed.notify_all();
    }).detach();
    return Job;
  }

  /// Whether the work is done before the deadline.
  bool waitUntil(Clock::time_point Deadline) {
    std::unique_lock Guard(Lock);
    return Changed.wait_until(Guard, Deadline,
                              [&] { return Value.has_value(); });
  }

  /// What work that is done returned. To be called once.
  Result take() {
    std::lock_guard Guard(Lock);
    return std::move(*Value);
  }

private:
  std::mutex Lock;
  std::condition_variable Changed;
  std::optional<Result> Value;
};

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_BACKGROUND_H
