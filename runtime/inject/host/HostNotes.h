// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What host code has accessed while work was pending.
//
// Metadata mode judges these accesses by the order of streams: the device looks
// at the cells of their memory later (runtime/device/metadata/HostAccess.h).
#ifndef CRSAN_INJECT_HOST_HOSTNOTES_H
#define CRSAN_INJECT_HOST_HOSTNOTES_H

#include "crsan/abi/Host.h"
#include "crsan/abi/HostNote.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

namespace crsan {

/// Notes of accesses, until somebody takes them. Any thread may call any
/// function, even in a signal handler: none takes a lock or calls anything.
class HostNotes {
public:
  /// Notes are kept from now on: launches are given numbers of runs.
  void begin() { IsOn = true; }
  /// The host may learn of work in a way that is not known, now and later.
  void end();
  bool isOn() const { return IsOn && !IsOver; }

  /// A stream is given the run of this number. To be called before the launch.
  void given(uint32_t Run);
  /// A launch that is made now must not join a run of a smaller number: that
  /// run counts as given before an access that has been noted.
  uint32_t newest() const { return Newest; }

  /// This thread is about to make the access, and the host may not have waited
  /// for all that was given.
  void add(const abi::HostSite &Site, uint64_t Address, uint64_t Bytes);

  bool isEmpty() const { return NumTaken == 0; }
  /// Moves the notes that are there. Returns how many.
  uint32_t take(std::span<abi::HostNote, abi::NumHostNotes> To);
  /// Nothing can be said of them any more.
  void forget();

  /// How many accesses were to be noted, whether there was room or not.
  uint64_t wanted() const { return Wanted; }

private:
  enum class State : uint8_t { Free, Writing, Full };
  struct Slot {
    std::atomic<State> Is{State::Free};
    abi::HostNote Note{};
  };
  template <typename Function> void takeAll(Function Do);

  std::atomic<bool> IsOn{false}, IsOver{false};
  std::atomic<uint32_t> Limit{0};    ///< Above the number of the last run.
  std::atomic<uint32_t> Newest{0};   ///< The largest Limit of any note.
  std::atomic<uint32_t> NumTaken{0}; ///< Slots that are not free, at least.
  std::atomic<uint64_t> Wanted{0};
  std::array<Slot, abi::NumHostNotes> Slots;
};

} // namespace crsan

#endif // CRSAN_INJECT_HOST_HOSTNOTES_H
