// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who knows what: streams, blocks, barriers.
#include "Oracle.h"

#include <algorithm>

using namespace crsan::sim;

Oracle::Oracle(OracleOptions Options)
    : Options(Options), Check(Memory, Who, *this, Options.KeepsEveryLine) {}
Oracle::~Oracle() = default;

//===----------------------------------------------------------------------===//
// Host and streams (PTX ISA, "API synchronization")
//===----------------------------------------------------------------------===//

/// What the host knows and has done.
const Clock &Oracle::hostNow() {
  if (HostAsActor)
    Host.raise(HostAsActor->Id, HostAsActor->Time++);
  return Host;
}

void Oracle::hostEnqueue(Stream S) {
  Host.join(ToldHost);
  Streams[S].Enqueued.push_back(hostNow());
}

/// What the next operation of the stream starts with: what the stream has done,
/// and what the host knew when it enqueued the operation.
Clock Oracle::startOf(Stream S) {
  StreamState &State = Streams[S];
  State.LastGrid = 0;
  Clock Start = State.Known;
  if (State.Enqueued.empty()) {
    Start.join(hostNow());
  } else {
    Start.join(State.Enqueued.front());
    State.Enqueued.pop_front();
  }
  return Start;
}

/// A kernel that may overlap with the one before it comes after what that comes
/// after, even if this schedule has run one after the other.
Clock Oracle::startOf(const GridInfo &Info) {
  StreamState &State = Streams[Info.Stream];
  const bool Overlaps = Info.MayOverlap && State.LastGrid;
  const Clock Known = State.Known;
  // While the one before runs, it is not in what the stream has done.
  if (Overlaps && !Grids.at(State.LastGrid).IsRunning)
    State.Known = State.BeforeLast;
  Clock Start = startOf(Info.Stream);
  State.Known = Known;
  State.LastGrid = Info.Grid;
  return Start;
}

void Oracle::streamOp(Stream S, std::string_view Name,
                      std::span<const HostRange> Reads,
                      std::span<const HostRange> Writes, uint32_t MadeAt) {
  Clock Known = startOf(S);
  ++Counts.Copies;
  Op O;
  O.Id = Who.addStreamWork(std::string(Name), MadeAt);
  O.Note = Who.lastNote();
  O.Known = &Known;
  const auto Touch = [&](const HostRange &R, uint8_t Flags) {
    constexpr size_t Most = size_t(1) << 30;
    for (size_t Done = 0; Done < R.Size; Done += Most) {
      O.A.Flags = Flags;
      O.A.Address = reinterpret_cast<uint64_t>(R.Begin) + Done;
      O.A.Size = uint32_t(std::min(R.Size - Done, Most));
      Check.stretch(O);
    }
  };
  for (const HostRange &R : Reads)
    Touch(R, ReadsMemory);
  for (const HostRange &R : Writes)
    Touch(R, WritesMemory);
  Known.raise(O.Id, Clock::Forever);
  // Whoever polls what a copy writes learns that it is over.
  if (std::any_of(Writes.begin(), Writes.end(), [&](const HostRange &R) {
        return isHostVisible(reinterpret_cast<uint64_t>(R.Begin));
      }))
    ToldHost.join(Known);
  LastWork = {O.Id, O.Note, O.Time};
  LastWorkIn = S;
  Streams[S].Known = std::move(Known);
}

void Oracle::eventRecord(Event E, Stream S) {
  Clock Known = startOf(S);
  Events[E] = Known;
  Streams[S].Known = std::move(Known);
}

void Oracle::eventWait(Event E, Stream S) {
  Clock Known = startOf(S);
  Known.join(Events[E]);
  Streams[S].Known = std::move(Known);
}

void Oracle::streamOrder(Stream Earlier, Stream Later) {
  Streams[Later].Known.join(Streams[Earlier].Known);
  Streams[Later].BeforeLast.join(Streams[Earlier].Known);
}

/// The function may have told threads of the host of what came before it, and
/// they may have told the function of what they know.
void Oracle::hostFunctionEnd(Stream S) {
  ToldHost.join(Streams[S].Known);
  Streams[S].Known.join(hostNow());
}

void Oracle::hostKnows(const Clock &C) {
  Host.join(C);
  forgetAllIfQuiet();
}

void Oracle::hostSyncStream(Stream S) { hostKnows(Streams[S].Known); }
void Oracle::hostSyncEvent(Event E) { hostKnows(Events[E]); }
void Oracle::hostSyncAll() {
  for (const auto &[S, State] : Streams)
    Host.join(State.Known);
  forgetAllIfQuiet();
}

/// Once the host knows that everything has ended, all to come is after all that
/// was, and nothing that was matters any more.
void Oracle::forgetAllIfQuiet() {
  if (Running)
    return;
  for (const auto &[S, State] : Streams)
    if (!State.Enqueued.empty() || !Host.covers(State.Known))
      return;
  Memory.clear();
  Who.clear();
  Grids.clear();
  Streams.clear();
  Events.clear();
  Barriers.clear();
  Annotated.clear();
  Asyncs.clear();
  FreeAsyncs.clear();
  ScFences = {};
  Host = {};
  HostAsActor.reset();
  ToldHost = {};
  LastBlock = nullptr;
}

void Oracle::allocated(HostRange R) { freed(R); }
void Oracle::freed(HostRange R) {
  const uint64_t Begin = reinterpret_cast<uint64_t>(R.Begin);
  Memory.erase(Begin, Begin + R.Size);
  HostVisible.erase(Begin);
}

//===----------------------------------------------------------------------===//
// What kernels and the host tell each other in memory that both see
//===----------------------------------------------------------------------===//

void Oracle::hostVisible(HostRange R) {
  const uint64_t Begin = reinterpret_cast<uint64_t>(R.Begin);
  HostVisible[Begin] = Begin + R.Size;
}

bool Oracle::isHostVisible(uint64_t Address) const {
  const auto After = HostVisible.upper_bound(Address);
  return After != HostVisible.begin() && Address < std::prev(After)->second;
}

/// The host may read what a strong access of system scope writes. It is not
/// seen reading; what it enqueues from now on is taken to come after what the
/// write releases.
void Oracle::tellHost(const Op &O) {
  if (isRelease(O.A.Order))
    Snapshot{O.Thread->Known, O.Id, O.Time}.joinTo(ToldHost);
  else if (O.Thread->Patterns)
    O.Thread->Patterns->Fences[indexOf(Scope::System)].joinTo(ToldHost);
}

/// The host may have written what a strong access of system scope reads.
void Oracle::askHost(const Op &O) {
  if (isAcquire(O.A.Order))
    O.Thread->Known.join(hostNow());
  else if (!hostNow().empty())
    O.Thread->patterns().PendingHost = Host;
}

//===----------------------------------------------------------------------===//
// Grids, blocks, threads
//===----------------------------------------------------------------------===//

void Oracle::gridStart(const GridInfo &Info) {
  GridState &G = Grids[Info.Grid];
  G.Kernel = Info.Kernel;
  G.GridDim = Info.GridDim;
  G.BlockDim = Info.BlockDim;
  G.ClusterDim = Info.ClusterDim;
  G.In = Info.Stream;
  G.Overlaps = Info.MayOverlap ? Streams[Info.Stream].LastGrid : 0;
  G.Start = startOf(Info);
  G.End = G.Start;
  ++Running;
  ++Counts.Grids;
}

void Oracle::gridEnd(uint64_t Grid, Stream S) {
  GridState &G = Grids[Grid];
  for (const auto &[Begin, End] : G.Ranges)
    G.End.raiseAll(Begin, End);
  for (ActorId Id : G.AsyncIds)
    G.End.raise(Id, Clock::Forever);
  Streams[S].BeforeLast = Streams[S].Known;
  Streams[S].Known.join(G.End);
  for (uint64_t Id : G.Barriers)
    Barriers.erase(Id);
  std::erase_if(Asyncs, [&](const auto &Entry) {
    return Who.note(Entry.second.ReadsNote).Where.Grid == Grid;
  });
  // The names are kept for findings to come.
  G.Start = G.End = {};
  G.Blocks.clear();
  G.Ranges.clear();
  G.Barriers.clear();
  G.AsyncIds.clear();
  G.Fences = {};
  LastBlock = nullptr;
  G.IsRunning = false;
  --Running;
}

static uint32_t clusterOf(const GridState &G, uint32_t Block) {
  const uint32_t X = Block % G.GridDim.X / G.ClusterDim.X;
  const uint32_t Y = Block / G.GridDim.X % G.GridDim.Y / G.ClusterDim.Y;
  const uint32_t Z = Block / G.GridDim.X / G.GridDim.Y / G.ClusterDim.Z;
  const uint32_t Columns = G.GridDim.X / G.ClusterDim.X;
  const uint32_t Rows = G.GridDim.Y / G.ClusterDim.Y;
  return X + Columns * (Y + Rows * Z);
}

void Oracle::blockStart(uint64_t Grid, uint32_t Block, uint64_t BlockUid,
                        uint64_t /*FirstThreadUid*/, uint32_t Threads) {
  GridState &G = Grids[Grid];
  auto B = std::make_unique<BlockState>();
  B->Where = {Grid, Block, clusterOf(G, Block), G.ClusterDim.count() > 1};
  B->First = Who.addThreads(B->Where, Threads);
  B->Note = Who.lastNote();
  B->Uid = BlockUid;
  B->Threads.resize(Threads);
  for (ThreadState &T : B->Threads)
    T.Known = G.Start;
  B->GridStart = G.Start;
  G.Ranges.emplace_back(B->First, Who.end());
  G.Blocks[Block] = std::move(B);
  ++Counts.Blocks;
  Counts.Threads += Threads;
}

BlockState &Oracle::blockOf(uint64_t Grid, uint32_t Block) {
  if (!LastBlock || LastBlock->Where.Grid != Grid ||
      LastBlock->Where.Block != Block)
    LastBlock = Grids.at(Grid).Blocks.at(Block).get();
  return *LastBlock;
}

ThreadState &Oracle::threadOf(const ThreadRef &T, BlockState *&Block) {
  Block = &blockOf(T.Grid, T.Block);
  return Block->Threads[T.Thread];
}

void Oracle::threadExit(const ThreadRef &T) {
  BlockState *B;
  ThreadState &State = threadOf(T, B);
  GridState &G = Grids[T.Grid];
  if (!State.Known.same(G.Start))
    G.End.join(State.Known);
  State.Patterns.reset();
}

void Oracle::gridDependencyWait(const ThreadRef &T) {
  BlockState *B;
  ThreadState &State = threadOf(T, B);
  State.Known.join(Streams[Grids.at(T.Grid).In].Known);
}

void Oracle::blockEnd(uint64_t Grid, uint32_t Block, uint64_t BlockUid) {
  BlockState &B = blockOf(Grid, Block);
  for (uint64_t Id : B.Barriers)
    Barriers.erase(Id);
  for (size_t I = 0; !FreeAsyncs.empty() && I < B.Threads.size(); ++I)
    FreeAsyncs.erase(B.First + I);
  ScFences.forget(B.Where);
  Memory.eraseShared(BlockUid);
  Grids[Grid].Blocks.erase(Block);
  LastBlock = nullptr;
}
