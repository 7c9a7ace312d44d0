// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the GPUs were given and the host has not waited for.
//
// As long as there is nothing, host code is not checked. Nothing else depends
// on it: a call that is not known to wait leaves work pending, and host code is
// checked for longer than it need be.
#ifndef CRSAN_INJECT_ORDER_PENDINGWORK_H
#define CRSAN_INJECT_ORDER_PENDINGWORK_H

#include "order/StreamOrder.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace crsan {

/// Any thread may call any function, whose locks are its own.
class PendingWork {
public:
  using Stream = std::pair<CUcontext, StreamId>;

  /// `OnChange` is called when there begins to be pending work, or ends. It
  /// must not call back.
  explicit PendingWork(std::function<void(bool)> OnChange)
      : OnChange(std::move(OnChange)) {}
  PendingWork(const PendingWork &) = delete;
  PendingWork &operator=(const PendingWork &) = delete;

  /// This thread calls CUDA: what it will find done was given before.
  void beginCall();

  /// A stream is given a kernel (mangled), or something else (null).
  void given(Stream S, const char *Kernel);
  /// Some stream of the context is.
  void givenAnywhere(CUcontext Ctx);
  /// The stream does not wait for the default stream, nor it for this one.
  void createdUnblocking(Stream S);
  /// Its handle may be given to another stream. What it was given is pending.
  void destroyed(Stream S);
  void recorded(CUevent Event, Stream S);

  /// Another number whenever something has been given. Takes no lock.
  uint32_t epoch() const { return uint32_t(NextNumber); }

  // Since the call of this thread began, everything is done that was given
  // before to ...
  void streamDone(Stream S);
  void eventDone(CUevent Event); ///< ... the event's stream, before the event.
  /// ... the default stream, and to all streams that it waits for.
  void defaultDone(CUcontext Ctx);
  void contextDone(CUcontext Ctx);
  void forget(CUevent Event);
  /// The context is gone.
  void forget(CUcontext Ctx);

  /// Names of kernels that are pending, some of them; null: no more. Takes no
  /// lock. The names are never freed.
  using Kernels = std::array<const std::string *, 4>;
  Kernels kernels() const;

private:
  struct Given {
    uint64_t Last = 0;                   ///< By NextNumber.
    const std::string *Kernel = nullptr; ///< The last one.
  };
  template <typename Predicate> void done(uint64_t Before, Predicate IsOf);
  void changed();

  const std::function<void(bool)> OnChange;
  std::atomic<uint64_t> NextNumber{1};
  mutable std::mutex Lock;
  std::map<Stream, Given> Streams; ///< That have pending work.
  std::map<CUcontext, uint64_t>
      Anywhere; ///< Given to unknown streams: the last.
  std::map<CUevent, std::pair<Stream, uint64_t>> Events;
  std::set<Stream> Unblocking;
  std::set<std::string> Names;
  bool HasAny = false;
  std::array<std::atomic<const std::string *>, 4> Shown{};
};

} // namespace crsan

#endif // CRSAN_INJECT_ORDER_PENDINGWORK_H
