// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers, annotations and asynchronous copies.
#include "Oracle.h"
#include "PTX/Classify.h"

#include <algorithm>

using namespace crsan;
using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

Oracle::BarrierState &Oracle::barrierOf(BlockState &B, uint64_t Id,
                                        BarrierKind Kind) {
  const auto [It, IsNew] = Barriers.try_emplace(Id);
  // Threads of other blocks of the cluster may still leave a barrier when the
  // first one's block has ended.
  const bool MayOutlive = Kind == BarrierKind::Cluster ||
                          (Kind == BarrierKind::MBarrier && B.Where.HasCluster);
  if (IsNew)
    (MayOutlive ? Grids[B.Where.Grid].Barriers : B.Barriers).insert(Id);
  return It->second;
}

static bool ordersEverything(BarrierKind Kind) {
  return Kind == BarrierKind::CTA || Kind == BarrierKind::Warp;
}

static Scope scopeOf(BarrierKind Kind, Scope Within) {
  return Kind == BarrierKind::Cluster ? std::max(Within, Scope::Cluster)
                                      : Within;
}

void Oracle::barrierArrive(const ThreadRef &T, uint64_t Id, BarrierKind Kind,
                           MemoryOrder Order, Scope Within) {
  BlockState *B;
  ThreadState &State = threadOf(T, B);
  BarrierState &Barrier = barrierOf(*B, Id, Kind);
  ++Counts.Barriers;
  if (ordersEverything(Kind)) {
    if (!Barrier.LastJoined.same(State.Known)) {
      Barrier.Joined.join(State.Known);
      Barrier.LastJoined = State.Known;
    }
    Barrier.Joined.raise(idOf(T, *B), State.Time++);
    ++Barrier.Arrived;
    if (Kind == BarrierKind::CTA)
      State.Iteration = -1;
    return;
  }
  // An arrival is a read-modify-write of the barrier.
  Offer O;
  if (State.Patterns)
    O = State.Patterns->Fences;
  if (isRelease(Order)) {
    const Snapshot Now{State.Known, idOf(T, *B), State.Time++};
    for (unsigned I = 0; I <= indexOf(scopeOf(Kind, Within)); ++I)
      O[I] = Now;
  }
  Barrier.Releases.add(B->Where, O);
}

void Oracle::barrierLeave(const ThreadRef &T, uint64_t Id, BarrierKind Kind,
                          MemoryOrder Order, Scope Within) {
  BlockState *B;
  ThreadState &State = threadOf(T, B);
  const auto It = Barriers.find(Id);
  if (It == Barriers.end())
    return; // Nobody has arrived who would matter.
  BarrierState &Barrier = It->second;
  if (ordersEverything(Kind)) {
    if (!Barrier.Left || !Barrier.LeftWith.same(State.Known)) {
      Barrier.LeftWith = State.Known;
      State.Known.join(Barrier.Joined);
      Barrier.LeavesWith = State.Known;
    } else {
      State.Known = Barrier.LeavesWith;
    }
    if (++Barrier.Left == Barrier.Arrived) {
      Barriers.erase(It);
      B->Barriers.erase(Id);
    }
    return;
  }
  unsigned From = 0;
  if (isAcquire(Order)) {
    Within = scopeOf(Kind, Within);
    Barrier.Releases.acquire(B->Where, Within, State.Known);
    From = indexOf(Within) + 1;
  }
  if (From < Barrier.Releases.scopesFor(B->Where) && !Barrier.Releases.empty())
    Barrier.Releases.demand(B->Where, From, State.patterns().Pending);
  Barrier.Releases.ignoreScopes(B->Narrow);
}

/// Threads may meet at two copies of one place: the report tells these apart.
void Oracle::syncThreads(const ThreadRef &T, uint64_t Id, int32_t Instruction) {
  BlockState *B;
  const int64_t Iteration = threadOf(T, B).Iteration;
  const ActorId Who = idOf(T, *B);
  BarrierState &Barrier = barrierOf(*B, Id, BarrierKind::CTA);
  if (Barrier.FirstAt == -1) {
    Barrier.First = Who;
    Barrier.FirstAt = Instruction;
    Barrier.FirstIteration = Iteration;
    return;
  }
  const bool AreKnown = Iteration != -1 && Barrier.FirstIteration != -1;
  const bool IsOther = AreKnown && Iteration != Barrier.FirstIteration;
  if (IsOther || Barrier.FirstAt != Instruction)
    meeting(Barrier, Who, Instruction, IsOther);
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

void Oracle::annotation(const ThreadRef &T, ptx::Annotation What,
                        uint64_t Address) {
  BlockState *B;
  ThreadState &State = threadOf(T, B);
  switch (What) {
  case ptx::Annotation::HappensBefore: {
    Clock &All = Annotated[Address];
    All.join(State.Known);
    return All.raise(idOf(T, *B), State.Time++);
  }
  case ptx::Annotation::HappensAfter:
    if (const auto It = Annotated.find(Address); It != Annotated.end())
      State.Known.join(It->second);
    return;
  case ptx::Annotation::Iteration:
    State.Iteration = int64_t(Address);
    return;
  case ptx::Annotation::BenignBegin:
  case ptx::Annotation::BenignEnd:
    State.IsBenign = What == ptx::Annotation::BenignBegin;
  }
}

//===----------------------------------------------------------------------===//
// Asynchronous copies (PTX ISA, "Asynchronous Operations")
//===----------------------------------------------------------------------===//

/// A copy comes after what its thread did before, and is otherwise on its own.
void Oracle::asyncIssue(const ThreadRef &T, uint64_t Async, Completion By) {
  BlockState *B;
  ThreadState &State = threadOf(T, B);
  AsyncState &A = Asyncs[Async];
  A.By = By;
  std::vector<AsyncIds> *Free = nullptr;
  if (const auto It = FreeAsyncs.find(idOf(T, *B)); It != FreeAsyncs.end())
    Free = &It->second;
  if (By != Completion::MBarrier && Free && !Free->empty()) {
    const AsyncIds Ids = Free->back();
    Free->pop_back();
    A.Reads = Ids.Reads;
    A.Writes = Ids.Writes;
    A.Time = Ids.Time;
    A.ReadsNote = Ids.ReadsNote;
    A.WritesNote = Ids.WritesNote;
  } else {
    A.Reads = Who.addAsync(B->Where, T.Thread);
    A.ReadsNote = Who.lastNote();
    A.Writes = Who.addAsync(B->Where, T.Thread);
    A.WritesNote = Who.lastNote();
    std::vector<ActorId> &Ids = Grids[T.Grid].AsyncIds;
    Ids.insert(Ids.end(), {A.Reads, A.Writes});
  }
  A.Known = State.Known;
  A.Known.raise(idOf(T, *B), State.Time++);
  if (By != Completion::Group) {
    ProxyFences &Fences = Grids[T.Grid].Fences;
    A.Fenced = Fences.before(A.Known);
    // The implicit one behind the copy, for those who learn of its end.
    Fences.add({A.Known, A.Reads, A.Time});
  }
  // What a copy writes comes after what it has read.
  A.Known.raise(A.Reads, A.Time);
}

/// The completion at an mbarrier tells of the copy, and of nothing that its
/// thread did before it.
void Oracle::asyncComplete(const ThreadRef &T, uint64_t Async, Completion By,
                           uint64_t Barrier) {
  const auto It = Asyncs.find(Async);
  if (By != Completion::MBarrier || It == Asyncs.end())
    return;
  BlockState &B = blockOf(T.Grid, T.Block);
  BarrierState &Phase = barrierOf(B, Barrier, BarrierKind::MBarrier);
  const AsyncState &A = It->second;
  for (ActorId Side : {A.Reads, A.Writes})
    Phase.Releases.add(B.Where, Snapshot{{}, Side, A.Time}, Scope::Cluster);
  Asyncs.erase(It);
}

void Oracle::asyncWaited(const ThreadRef &T, uint64_t Async, bool ReadsOnly) {
  const auto It = Asyncs.find(Async);
  if (It == Asyncs.end())
    return;
  BlockState *B;
  ThreadState &State = threadOf(T, B);
  const AsyncState &A = It->second;
  State.Known.raise(A.Reads, A.Time);
  if (ReadsOnly)
    return;
  State.Known.raise(A.Writes, A.Time);
  FreeAsyncs[idOf(T, *B)].push_back(
      {A.Reads, A.Writes, A.Time + 1, A.ReadsNote, A.WritesNote});
  Asyncs.erase(It);
}
