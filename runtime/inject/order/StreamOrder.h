//===- StreamOrder.h - Which launches the host has ordered ------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Happens-before of a context's launches, by vector clocks with an entry for
// each stream: streams and events have one, and the host has one, for all its
// threads. What is not known for certain orders everything (cut), or, where it
// may order even what has been launched already, ends all knowledge until the
// context is next idle (lose).
//
// Launches of one stream make up one run (abi::StreamRun) as long as nothing
// comes in between and no other stream is used; so a program of one stream has
// hardly any, and a launch costs it nothing.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_ORDER_STREAMORDER_H
#define CRSAN_INJECT_ORDER_STREAMORDER_H

#include "crsan/abi/Launch.h"

#include <cuda.h>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace crsan {

/// A stream as the program means it: a handle, the legacy default stream, or
/// the default stream of a thread.
class StreamId {
public:
  /// Of an argument; `IsPerThread`: of a function in its per-thread form.
  static StreamId of(CUstream Stream, bool IsPerThread);
  static StreamId legacy() { return StreamId(0); }

  bool isLegacy() const { return Key == 0; }
  bool isThreads() const { return Key >> 63; }
  auto operator<=>(const StreamId &) const = default;

private:
  explicit StreamId(uint64_t Key) : Key(Key) {}
  uint64_t Key;
};

/// All functions may be called by any thread, and call nobody.
class StreamOrder {
public:
  StreamOrder() = default;
  StreamOrder(const StreamOrder &) = delete;
  StreamOrder &operator=(const StreamOrder &) = delete;

  /// There are streams besides the default one, so that begin() is called for.
  bool isWanted() const;
  /// begin() has been called.
  bool isFollowing() const;
  /// From now on runs are written to `Shared`, which is zero.
  void begin(abi::StreamOrder *Shared);

  void created(StreamId Stream, bool IsBlocking);
  void destroyed(StreamId Stream);

  /// What a stream has to write before a launch: its place, and the number.
  struct Mark {
    uint32_t Stream, Run;
  };
  /// A launch is about to be made, of the kernel that has this bit
  /// (abi::kernelBit). `TellsHost`: it may do so before it ends.
  std::optional<Mark> launching(StreamId Stream, uint32_t KernelBit,
                                bool TellsHost);
  /// It has been made, or has failed.
  void launched(StreamId Stream);
  /// One is about to be made of several grids, into a stream that nobody knows,
  /// or that may begin before what its stream was given last has ended.
  void launchingAnywhere();
  /// Grids may run side by side: there has been more than one stream.
  bool hasOverlaps() const;

  void created(CUevent Event);
  void recorded(CUevent Event, StreamId Stream);
  void forget(CUevent Event);
  bool knows(CUevent Event) const;
  /// The stream waits for the event, which is known.
  void waits(StreamId Stream, CUevent Event);
  /// The host knows that it is done.
  void streamDone(StreamId Stream);
  void eventDone(CUevent Event);
  /// The stream was given something else to do. The host may see when that is
  /// done, so all is as if it did.
  void enqueued(StreamId Stream) { streamDone(Stream); }

  /// All launches so far are ordered before all later ones.
  void cut();
  /// Something was enqueued that may order what is already launched, or starts
  /// grids that are nobody's launch.
  void lose();

  /// Before the host waits for the whole context, and when it has: then what
  /// was lost is found again.
  uint64_t beforeIdle() const;
  static constexpr uint64_t NeverIdle = ~uint64_t(0);
  void becameIdle(uint64_t Before);
  /// Whether nothing was launched since beforeIdle() returned this.
  bool isIdle(uint64_t Before) const;

private:
  using Clocks = std::array<uint32_t, abi::NumStreams>;
  struct Stream {
    uint32_t Number = 0;
    bool IsBlocking = true;
    Clocks Knows{};        ///< What is ordered before its next launch.
    uint32_t Run = 0;      ///< The last one's number.
    bool IsOpen = false;   ///< The next launch may be one of that run.
    unsigned InFlight = 0; ///< Launches between their two calls.
  };
  /// Who launches: one stream, or several.
  struct Launchers {
    std::optional<StreamId> First;
    bool AreSeveral = false;

    void note(StreamId Id) {
      if (!First)
        First = Id;
      AreSeveral |= *First != Id;
    }
  };

  Stream *find(StreamId Id);
  Stream *enter(StreamId Id);
  Clocks &touch(StreamId Id, Stream &S);
  void learn(const Clocks &What);
  void cutLocked();
  void loseLocked();
  abi::StreamRun &writeRun(Stream &S, const Clocks &Before);

  mutable std::mutex Lock;
  abi::StreamOrder *Shared = nullptr;
  bool IsWanted = false;
  bool IsLost = false;
  uint64_t Doings = 0; ///< Rises with each launch and each loss.
  unsigned InFlight = 0;
  /// Before begin(), and since the context was idle.
  bool HasUntold = false, HasUntoldElsewhere = false;

  std::map<StreamId, bool> Blocking;  ///< Of all that have been created.
  std::map<StreamId, Stream> Streams; ///< That have been used.
  std::map<CUevent, Clocks> Events;
  uint32_t NextNumber = 0, NextRun = 1;
  Clocks Host{};     ///< What the host knows to be done.
  Clocks Sequence{}; ///< Of the last run of each stream.
  Launchers Ever, SinceCut;
};

} // namespace crsan

#endif // CRSAN_INJECT_ORDER_STREAMORDER_H
