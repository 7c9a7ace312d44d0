// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact happens-before over a simulated run.
//
// Computes the causality order of the PTX memory model over the schedule that
// was executed, and reports each pair of conflicting accesses that it does not
// order and that are not morally strong with each other. docs/oracle.md says
// which rule is where.
#ifndef CRSAN_SIM_ORACLE_ORACLE_H
#define CRSAN_SIM_ORACLE_ORACLE_H

#include "Races.h"
#include "Report/Finding.h"

#include <deque>
#include <functional>
#include <set>

namespace crsan::sim {

struct OracleOptions {
  /// `fence.sc` synchronises with every later one that it meets (PTX ISA,
  /// "Memory synchronization", first rule). CUDA C++ knows no such order: there
  /// a fence needs an atomic that is read on the other side. Without the rule
  /// __threadfence() orders nothing by itself.
  bool FencesSynchronise = true;
  /// Every pair of lines that races is found, not only every racy location:
  /// no access is forgotten because a later one stands for it. Takes memory.
  bool KeepsEveryLine = false;
  /// Volatile accesses are weak, as in C++.
  bool VolatileIsWeak = false;
  /// Whether a race is wanted whose later access is of this launch, from 1; 0:
  /// of no kernel. Null: all are.
  std::function<bool(uint64_t Launch)> Takes = {};
  /// What a kernel (mangled) finds at an address, in words; "": not known.
  std::function<std::string(uint64_t Address, Space, const std::string &Kernel)>
      Describe = {};
  /// A number for where the memory at an address was allocated; 0: not known.
  std::function<uint32_t(uint64_t Address)> MadeAt = {};
};

class Oracle : public Observer, private RaceSink {
public:
  explicit Oracle(OracleOptions Options = {});
  ~Oracle() override;
  Oracle(const Oracle &) = delete;
  Oracle &operator=(const Oracle &) = delete;

  /// In the order in which they were first seen.
  const std::vector<RaceFinding> &findings() const { return Found.all(); }
  /// Pairs of instructions at which threads of a block have met at its barrier
  /// 0; they may be one place of the source, in one iteration or in two.
  const std::vector<RaceFinding> &meetings() const { return Met.all(); }
  const OracleSummary &counts() const { return Counts; }
  /// Weak reads, each with a weak write of the same thread at the same place,
  /// as in `*P += 1`; or by chance.
  const std::set<std::pair<int32_t, int32_t>> &updates() const {
    return Updates;
  }

  /// Whatever happened is ordered before all that the host does from now on.
  bool isQuiet() const { return Streams.empty() && Running == 0; }

  /// Host code is about to make a weak access of any size; its instruction is
  /// hostInstruction(). IsOfFunction: within the function of which streamOp()
  /// told last.
  void hostAccess(const Access &, bool IsOfFunction);

  void gridStart(const GridInfo &) override;
  void gridEnd(uint64_t Grid, Stream) override;
  void streamOp(Stream, std::string_view Op, std::span<const HostRange> Reads,
                std::span<const HostRange> Writes,
                uint32_t MadeAt = 0) override;
  void eventRecord(Event, Stream) override;
  void eventWait(Event, Stream) override;
  void streamOrder(Stream Earlier, Stream Later) override;
  void hostEnqueue(Stream) override;
  void hostSyncStream(Stream) override;
  void hostSyncEvent(Event) override;
  void hostSyncAll() override;
  void hostFunctionEnd(Stream) override;
  void allocated(HostRange) override;
  void hostVisible(HostRange) override;
  void freed(HostRange) override;
  void blockStart(uint64_t Grid, uint32_t Block, uint64_t BlockUid,
                  uint64_t FirstThreadUid, uint32_t Threads) override;
  void blockEnd(uint64_t Grid, uint32_t Block, uint64_t BlockUid) override;
  void threadExit(const ThreadRef &) override;
  void gridDependencyWait(const ThreadRef &) override;
  void access(const ThreadRef &, const Access &) override;
  void fence(const ThreadRef &, MemoryOrder, Scope) override;
  void proxyFence(const ThreadRef &) override;
  void barrierArrive(const ThreadRef &, uint64_t Id, BarrierKind, MemoryOrder,
                     Scope) override;
  void barrierLeave(const ThreadRef &, uint64_t Id, BarrierKind, MemoryOrder,
                    Scope) override;
  void syncThreads(const ThreadRef &, uint64_t Id,
                   int32_t Instruction) override;
  void annotation(const ThreadRef &, ptx::Annotation,
                  uint64_t Address) override;
  void asyncIssue(const ThreadRef &, uint64_t Async, Completion) override;
  void asyncComplete(const ThreadRef &, uint64_t Async, Completion,
                     uint64_t Barrier) override;
  void asyncWaited(const ThreadRef &, uint64_t Async, bool ReadsOnly) override;

private:
  struct StreamState {
    Clock Known;
    std::deque<Clock> Enqueued; ///< What the host knew, by operation.
    /// The last operation that started, if it is a kernel; 0: it is none.
    uint64_t LastGrid = 0;
    Clock BeforeLast; ///< What was known without that kernel.
  };
  /// One phase.
  struct BarrierState {
    Clock Joined;     ///< Of block and warp barriers.
    Clock LastJoined; ///< A shortcut for threads that know the same ...
    Clock LeftWith, LeavesWith; ///< ... when they come and when they leave.
    uint32_t Arrived = 0, Left = 0;
    ReleaseSet Releases; ///< Of the others.
    /// Of syncThreads(): who came first, to which instruction (-1: nobody), and
    /// in which iteration.
    ActorId First = 0;
    int32_t FirstAt = -1;
    int64_t FirstIteration = -1;
  };
  struct AsyncState {
    ActorId Reads = 0, Writes = 0; ///< Its two sides.
    uint32_t Time = 1;
    uint32_t ReadsNote = 0, WritesNote = 0;
    Completion By = Completion::Group;
    Clock Known;
    Clock Fenced; ///< What a fence of proxies has made known to a bulk copy.
  };
  /// Ids that a thread may use again for a copy, once it has waited.
  struct AsyncIds {
    ActorId Reads, Writes;
    uint32_t Time, ReadsNote, WritesNote;
  };

  BlockState &blockOf(uint64_t Grid, uint32_t Block);
  ThreadState &threadOf(const ThreadRef &T, BlockState *&Block);
  ActorId idOf(const ThreadRef &T, const BlockState &B) const {
    return B.First + T.Thread;
  }
  Clock startOf(Stream S);
  Clock startOf(const GridInfo &Info);
  bool isHostVisible(uint64_t Address) const;
  void tellHost(const Op &O);
  void askHost(const Op &O);
  void hostKnows(const Clock &C);
  const Clock &hostNow();
  void forgetAllIfQuiet();

  void threadAccess(Op &O);
  void asyncAccess(BlockState &B, const Access &A);
  SyncPoint *observed(Granule &G, const Op &O, uint16_t Mask, bool &Missed);
  void acquire(const Op &O, const SyncPoint &Seen, const Location &At);
  void acquirePending(const Op &O, const Location &At);
  void publish(Granule &G, const Op &O, const Location &At, SyncPoint *Seen,
               const std::shared_ptr<Chain> &Link, uint32_t Position);
  Offer offerOf(const Op &O, const Location &At) const;
  void noteMissed(const Op &O, const Granule &G, uint16_t Mask);
  void race(const EarlierAccess &Earlier, const Op &Later, uint64_t Address,
            uint64_t Count) override;
  void meeting(const BarrierState &Barrier, ActorId Other, int32_t OtherAt,
               bool IsOtherIteration);
  void noteUpdate(const Op &O);
  std::vector<StrongRead> toldAt(const EarlierAccess &Earlier,
                                 const Op &Later) const;
  RaceSide sideOf(ActorId Id) const;
  /// Two grids of which one was launched to overlap with the other.
  bool mayOverlap(uint64_t A, uint64_t B) const;
  BarrierState &barrierOf(BlockState &B, uint64_t Id, BarrierKind Kind);

  OracleOptions Options;
  OracleSummary Counts;
  Races Found, Met;
  Actors Who;
  Shadow Memory;
  Checker Check;
  Clock Host;
  /// The host as an actor, since its first access; what it did before hostNow()
  /// is in Host.
  struct HostActor {
    ActorId Id = 0;
    uint32_t Note = 0, Time = 1;
  };
  std::optional<HostActor> HostAsActor;
  /// The operation of a stream that ran last.
  HostActor LastWork;
  Stream LastWorkIn = 0;
  /// What kernels have told the host by now, whether it has looked or not.
  Clock ToldHost;
  std::map<uint64_t, uint64_t> HostVisible; ///< Begin -> end.
  std::map<uint64_t, GridState> Grids; ///< All since everything was forgotten.
  unsigned Running = 0;
  std::map<Stream, StreamState> Streams;
  std::map<Event, Clock> Events;
  std::unordered_map<uint64_t, BarrierState> Barriers;
  std::unordered_map<uint64_t, Clock> Annotated; ///< Releases, by address.
  std::unordered_map<uint64_t, AsyncState> Asyncs;
  std::unordered_map<ActorId, std::vector<AsyncIds>> FreeAsyncs;
  ReleaseSet ScFences;
  std::set<std::pair<int32_t, int32_t>> Updates;
  BlockState *LastBlock = nullptr; ///< Of the last event.
};

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_ORACLE_H
