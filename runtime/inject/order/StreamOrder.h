// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which launches the host has ordered.
//
// Happens-before between the launches of a context. Each stream, each event and
// the host (one for all its threads) has a vector clock, with an entry for each
// stream. A call whose effect is not known exactly orders all launches before
// it before all launches after it (cut). A call that may order even launches
// before it makes the order unknown until the context is idle (lose).
//
// Successive launches into one stream form one run (abi::StreamRun), as long as
// no other call orders them and no other stream is used. A program with a
// single stream therefore has few runs, and its launches cost nothing more.
//
// What may have told the host of a launch orders later launches; whether the
// host has *waited* for it is another question, which checks of host code ask.
// So each clock is kept twice (Known).
#ifndef CRSAN_INJECT_ORDER_STREAMORDER_H
#define CRSAN_INJECT_ORDER_STREAMORDER_H

#include "crsan/abi/Launch.h"

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace crsan {

/// Identifies a stream: by its handle, as the legacy default stream, or as the
/// default stream of a thread.
class StreamId {
public:
  /// Identifies the stream of an argument. `IsPerThread`: the function that
  /// takes the argument uses per-thread default streams.
  static StreamId of(CUstream Stream, bool IsPerThread);
  static StreamId legacy() { return StreamId(0); }

  bool isLegacy() const { return Key == 0; }
  bool isThreads() const { return Key >> 63; }
  auto operator<=>(const StreamId &) const = default;

private:
  explicit StreamId(uint64_t Key) : Key(Key) {}
  uint64_t Key;
};

/// Any thread may call any function. The functions call neither the driver nor
/// the session.
class StreamOrder {
public:
  /// An entry for each stream: the sequence of one of its runs.
  using Clocks = std::array<uint32_t, abi::NumStreams>;

  /// `Numbers`: the number of the next run, where orders share one; or null.
  explicit StreamOrder(std::atomic<uint32_t> *Numbers = nullptr)
      : NextRun(Numbers ? *Numbers : OwnNumbers) {}
  StreamOrder(const StreamOrder &) = delete;
  StreamOrder &operator=(const StreamOrder &) = delete;

  /// Work of a stream may wait for something that is not known: lose() was
  /// called since the context was idle.
  bool mayBeHeldUp() const;
  /// The program uses streams other than the default one, or want() was called,
  /// and begin() was not called yet.
  bool isWanted() const;
  void want();
  /// begin() has been called.
  bool isFollowing() const;
  /// From now on runs are written to `Shared`, which is zero.
  void begin(abi::StreamOrder *Shared);

  void created(StreamId Stream, bool IsBlocking);
  void destroyed(StreamId Stream);

  /// What a stream has to write before a launch: the stream's number, which is
  /// the index to write to, and the run's number.
  struct Mark {
    uint32_t Stream, Run;
  };
  /// The program is about to launch a kernel that has this bit
  /// (abi::kernelBit; none: it is not known which kernel) and, with its
  /// arguments, that one (abi::argumentsBit; none: they are not known).
  /// `TellsHost`: the kernel may release to the host before it ends.
  /// `NewestNote`: the launch joins no run of a smaller number (HostNotes).
  std::optional<Mark>
  launching(StreamId Stream, std::optional<uint32_t> KernelBit, bool TellsHost,
            std::optional<uint32_t> ArgumentsBit = std::nullopt,
            uint32_t NewestNote = 0);
  /// The number of the stream's last run; 0: the order is not known.
  uint32_t lastRun(StreamId Stream) const;
  /// The launch has been made, or has failed.
  void launched(StreamId Stream);
  /// The program is about to launch several grids, or a grid into an unknown
  /// stream, or a grid that may begin before earlier work of its stream has
  /// ended.
  void launchingAnywhere();
  /// Grids and copies may run side by side: there have been two streams that do
  /// not wait for each other.
  bool hasOverlaps() const;

  void created(CUevent Event);
  void recorded(CUevent Event, StreamId Stream);
  void forget(CUevent Event);
  bool knows(CUevent Event) const;
  /// The stream waits for an event that this context knows.
  void waits(StreamId Stream, CUevent Event);
  /// The stream was given a copy, or other work that tells the host nothing.
  void enqueued(StreamId Stream);
  /// The same, of work that may tell the host of itself and of all that is
  /// before it, as soon as it begins. It has not begun while the event, which
  /// is the library's, has not happened.
  void tellsHostBehind(CUevent Event, StreamId Stream);
  /// Events whose work the host may not know of yet.
  std::vector<CUevent> awaited() const;
  /// The event may have happened. False: it was known to have.
  bool happened(CUevent Event);
  /// The host knows that all work of the stream, or all work before the event,
  /// is done.
  void streamDone(StreamId Stream);
  void eventDone(CUevent Event);
  /// Runs that are before something: as far as the order of launches goes, and
  /// as far as the host that knows of it has waited for them.
  struct Known {
    Clocks Before{}, Waited{};
  };
  /// What is before the event, as it was recorded last; ...
  std::optional<Known> before(CUevent Event) const;
  /// ... and the host knows that this is done.
  void done(const Known &What);
  /// The last run of each stream that the host has waited for, or that what
  /// streams were given may tell it of: all but what kernels may tell it while
  /// they run.
  Clocks waited() const;
  /// Whether these are all runs.
  bool hasWaited() const;
  /// Whether all others are before what the stream is given next.
  bool isRestBefore(StreamId Stream);
  /// The stream is about to be given work that may tell the host of itself, and
  /// of all that is before it, at any time from now on.
  void mayTellHost(StreamId Stream);

  /// All launches so far are ordered before all later ones.
  void cut();
  /// The program did something that may order earlier launches, or that starts
  /// grids without a launch: nothing is known until the context is idle.
  void lose();
  /// The program launches a kernel that is not followed: likewise, but streams
  /// wait for nothing else than they are told to.
  void launchingUnfollowed();

  /// To be called before the host waits for the whole context, and after. Then
  /// the order of later launches is known again after lose().
  uint64_t beforeIdle() const;
  static constexpr uint64_t NeverIdle = ~uint64_t(0);
  void becameIdle(uint64_t Before);
  /// Whether nothing was launched since beforeIdle() returned this.
  bool isIdle(uint64_t Before) const;
  /// The library launches a kernel that no run has.
  void launchingOwn();

private:
  struct Stream {
    uint32_t Number = 0;
    bool IsBlocking = true;
    Known Knows;           ///< Runs ordered before the stream's next launch.
    uint32_t Run = 0;      ///< Number of the stream's last run.
    bool IsOpen = false;   ///< The next launch may join the last run.
    unsigned InFlight = 0; ///< Launches between launching() and launched().
  };
  /// Whether launches went into one stream or into several.
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
  const Stream *find(StreamId Id) const;
  Stream *enter(StreamId Id);
  Known &touch(StreamId Id, Stream &S);
  Known all() const { return {Sequence, Sequence}; }
  static void join(Known &To, const Known &From);
  void learn(const Known &What);
  void noteKnown(const Clocks &What);
  void cutLocked();
  void loseLocked();
  abi::StreamRun &writeRun(Stream &S, const Clocks &Before);

  mutable std::mutex Lock;
  abi::StreamOrder *Shared = nullptr;
  // A launch asks several times, and may come every few microseconds: these are
  // read without the lock. IsFollowing: Shared is set. HasAwaited: Awaited is
  // not empty.
  std::atomic<bool> IsWanted = false, IsFollowing = false, HasOverlaps = false,
                    HasAwaited = false;
  bool IsLost = false, MayBeHeldUp = false;
  bool HasCreated = false; ///< The program has created a stream.
  uint64_t Doings = 0;     ///< Number of launches and of calls of lose().
  unsigned InFlight = 0;
  /// Launches before begin() and since the context was idle: into the legacy
  /// default stream, and into others.
  bool HasUntold = false, HasUntoldElsewhere = false;

  std::map<StreamId, bool> Blocking;  ///< Of all streams that exist.
  std::map<StreamId, Stream> Streams; ///< Those that have been used.
  std::map<CUevent, Known> Events;    ///< Those of the program.
  std::map<CUevent, Known> Awaited;   ///< What the host learns from each.
  uint32_t NextNumber = 0;
  std::atomic<uint32_t> OwnNumbers{1}, &NextRun; ///< Of the next run.
  Known Host;        ///< Runs that the host knows to be done.
  Clocks Sequence{}; ///< The last run of each stream.
  Launchers Ever, SinceCut;
};

} // namespace crsan

#endif // CRSAN_INJECT_ORDER_STREAMORDER_H
