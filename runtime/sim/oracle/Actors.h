// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who acts, and what each knows.
#ifndef CRSAN_SIM_ORACLE_ACTORS_H
#define CRSAN_SIM_ORACLE_ACTORS_H

#include "Releases.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace crsan::sim {

/// What an actor id stands for; one note for a block of threads.
struct ActorNote {
  enum class Kind : uint8_t {
    Threads,    ///< Ids are First + the thread's linear index.
    Async,      ///< An asynchronous copy of `Thread`, reads or writes.
    StreamWork, ///< A copy or fill in a stream.
    Host,       ///< All threads of the host.
  } What = Kind::Threads;
  ActorId First = 0;
  Place Where;
  uint32_t Thread = 0;
  // Of StreamWork:
  std::string Operation;
  uint32_t MadeAt = 0; ///< As Observer::streamOp() was told.
};

/// A granule's address and the bytes of it: what accesses have to agree on to
/// overlap completely.
using Location = std::pair<uint64_t, uint16_t>;

struct StrongRead {
  int32_t Instruction = -1;
  bool IsAtomic = false;
  bool operator==(const StrongRead &) const = default;
};

/// What fences and strong accesses of a thread are waiting for.
struct PatternState {
  Offer Fences;      ///< Latest release fences.
  Clock PendingHost; ///< What the host may have told, for an acquire fence.
  Demand Pending;    ///< Read by strong reads, for an acquire fence to come.
  /// Release operations so far, and reads that an acquire operation on the same
  /// location may complete.
  std::map<Location, Offer> ReleasedAt;
  std::map<Location, Demand> PendingAt;
  /// For explanations only: the instructions that have read what is pending,
  /// and when the last one did.
  std::vector<StrongRead> ReadAt;
  uint32_t ReadTime = 0;

  void noteRead(StrongRead Read, uint32_t Time) {
    ReadTime = Time;
    if (std::find(ReadAt.begin(), ReadAt.end(), Read) == ReadAt.end())
      ReadAt.push_back(Read);
  }
};

struct ThreadState {
  Clock Known;           ///< Of others; an actor knows itself.
  uint32_t Time = 1;     ///< Steps with every release.
  bool IsBenign = false; ///< Between ptx::Annotation::BenignBegin and -End.
  /// Of ptx::Annotation::Iteration, until the barrier; -1: none is known.
  int64_t Iteration = -1;
  std::unique_ptr<PatternState> Patterns;

  PatternState &patterns() {
    if (!Patterns)
      Patterns = std::make_unique<PatternState>();
    return *Patterns;
  }
};

struct BlockState {
  ActorId First = 0;
  uint32_t Note = 0;
  Place Where;
  uint64_t Uid = 0;
  std::vector<ThreadState> Threads;
  Clock GridStart;                       ///< What all of the grid know.
  std::unordered_set<uint64_t> Barriers; ///< Whose state goes with the block.
  // For explanations only: what the block's threads would know if scopes did
  // not matter, and if every strong access were an acquire and a release.
  Clock Narrow, Unfenced;
};

/// The fences between the generic and the asynchronous proxy in a grid.
class ProxyFences {
public:
  void add(const Snapshot &Fence);
  /// What is before a fence that is known by this clock.
  Clock before(const Clock &Known) const;

private:
  /// Of more than these, whoever comes later is taken to know.
  static constexpr size_t Most = 4096;
  std::vector<Snapshot> Recent;
  Clock Others;
};

struct GridState {
  std::string Kernel;
  uint64_t In = 0;       ///< The stream.
  uint64_t Overlaps = 0; ///< The grid that it need not come after; 0: none.
  Dim3 GridDim, BlockDim, ClusterDim;
  bool IsRunning = true;
  Clock Start, End;
  std::unordered_map<uint32_t, std::unique_ptr<BlockState>> Blocks;
  std::vector<std::pair<ActorId, ActorId>> Ranges; ///< Of ids, for the end.
  std::unordered_set<uint64_t> Barriers; ///< Whose state goes with the grid.
  std::vector<ActorId> AsyncIds;
  ProxyFences Fences;
};

/// Ids and what they stand for.
class Actors {
public:
  /// Ids for a block, from a multiple of 32 on, padded to whole warps.
  ActorId addThreads(const Place &Where, uint32_t Threads);
  ActorId addAsync(const Place &Where, uint32_t Thread);
  ActorId addStreamWork(std::string Operation, uint32_t MadeAt);
  ActorId addHost();

  const ActorNote &noteOf(ActorId Id) const;
  uint32_t lastNote() const { return uint32_t(Notes.size() - 1); }
  const ActorNote &note(uint32_t Index) const { return Notes[Index]; }
  ActorId end() const { return Next; }
  void clear();

private:
  ActorId single(ActorNote Note);

  std::vector<ActorNote> Notes; ///< By rising First.
  ActorId Next = 0;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_ACTORS_H
