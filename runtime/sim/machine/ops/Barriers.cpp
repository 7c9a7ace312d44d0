// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bar, barrier, fence, membar, griddepcontrol.
#include "ops/Lanes.h"

#include "Device.h"

#include <fmt/format.h>

using namespace crsan::sim;
using crsan::ptx::Operand;

namespace {

enum class What : uint8_t { Sync, Arrive, And, Or, Popc };

/// Aux: What; bit 8: all lanes of a warp must be at the same instruction; bit
/// 9: it has the form of a __syncthreads() of the source.
struct BarrierPlan {
  What Kind;
  bool IsAligned, MayBeSyncThreads;
  static BarrierPlan of(uint64_t A) {
    return {What(A & 0xFF), bool(A & 256), bool(A & 512)};
  }
};

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

bool isComplete(const Block &B, const NamedBarrier &Bar) {
  if (!Bar.IsBusy)
    return false;
  uint32_t Sum = 0;
  for (size_t W = 0; W < B.Warps.size(); ++W) {
    uint32_t Arrived = Bar.Arrived[W], Live = B.Warps[W]->Live;
    bool IsWhole = (Live & ~Arrived) == 0;
    if (!Bar.Expected && !IsWhole)
      return false;
    // A warp that is there as a whole counts in full, however many lanes it
    // has.
    Sum += Arrived && IsWhole ? WarpSize : std::popcount(Arrived);
  }
  return !Bar.Expected || Sum >= Bar.Expected;
}

void giveResult(Device &D, Fragment &F, const NamedBarrier &Bar) {
  Execution X(D);
  X.bind(&F);
  X.Mask = F.Lanes;
  const Instruction &I = F.Top->Fn->Code[F.Pc];
  switch (BarrierPlan::of(I.Aux).Kind) {
  case What::Sync:
  case What::Arrive:
    return;
  case What::And:
    X.setBits(I.Op[2], Bar.All ? AllLanes : 0);
    return;
  case What::Or:
    X.setBits(I.Op[2], Bar.Count ? AllLanes : 0);
    return;
  case What::Popc:
    forLanes(X.Mask, [&](unsigned L) { X.setValue(I.Op[2], L, Bar.Count); });
    return;
  }
}

void finish(Device &D, Block &B, unsigned Number) {
  NamedBarrier &Bar = B.Barriers[Number];
  std::vector<Fragment *> Waiting;
  for (auto &W : B.Warps)
    for (Fragment *F : W->Fragments)
      if (F->Is == Fragment::State::Barrier && F->Barrier == Number)
        Waiting.push_back(F);
  for (Fragment *F : Waiting) {
    giveResult(D, *F, Bar);
    if (!D.Watch)
      continue;
    Execution X(D);
    X.bind(F);
    forLanes(F->Lanes, [&](unsigned L) {
      D.Watch->barrierLeave(X.thread(L), Bar.Uid, BarrierKind::CTA);
    });
  }
  Bar.IsBusy = false;
  Bar.Expected = 0;
  Bar.Count = 0;
  Bar.All = true;
  std::fill(Bar.Arrived.begin(), Bar.Arrived.end(), 0);
  D.releaseTogether(std::move(Waiting));
}

//===----------------------------------------------------------------------===//
// Arrival. Op: number, count, result, predicate.
//===----------------------------------------------------------------------===//

/// Without a count, all threads of the block are meant.
bool isSameCount(const Block &B, uint32_t One, uint32_t Other) {
  const uint32_t All = uint32_t(B.Warps.size()) * WarpSize;
  return (One ? One : All) == (Other ? Other : All);
}

/// Null if all is well.
const char *misuse(Execution &X, const NamedBarrier &Bar, uint32_t Expected,
                   const BarrierPlan &P, unsigned Number) {
  if (Expected % WarpSize)
    return "is used with a number of threads that is not a multiple of the "
           "warp size";
  if (Bar.IsBusy && !isSameCount(*X.B, Bar.Expected, Expected))
    return "is used with different numbers of threads at the same time";
  if (Bar.Arrived[X.W->Index] & X.F->Lanes)
    return "is arrived at twice by a thread before it is complete";
  if (P.IsAligned)
    for (const Fragment *Other : X.W->Fragments)
      if (Other->Is == Fragment::State::Barrier && Other->Barrier == Number &&
          !Device::onSamePath(*Other, *X.F))
        return "is executed by lanes of one warp at different places";
  return nullptr;
}

Outcome barOp(Execution &X, const Instruction &I) {
  const BarrierPlan P = BarrierPlan::of(I.Aux);
  unsigned First = std::countr_zero(X.Mask);
  uint32_t Number = uint32_t(X.value(I.Op[0], First)), Same = 0;
  forLanes(X.Mask, [&](unsigned L) {
    Same |= uint32_t(X.value(I.Op[0], L) == Number) << L;
  });
  if (Same != X.F->Lanes) // Lanes with other numbers come in their turn.
    return X.D.diverge(X, X.F->Lanes & ~Same, X.F->Pc, X.F->Pc, X.F->Pc + 1);
  if (Number >= X.B->Barriers.size())
    return X.fault(I, First, Fault::Kind::Trap,
                   fmt::format("there is no barrier {}", Number));
  uint32_t Expected = I.Op[1].IsValid ? uint32_t(X.value(I.Op[1], First)) : 0;
  NamedBarrier &Bar = X.B->Barriers[Number];
  if (!Bar.IsBusy) {
    Bar.IsBusy = true;
    Bar.Expected = Expected;
    Bar.Uid = X.D.NextBarrierUid++;
  }
  if (P.MayBeSyncThreads && X.D.Watch && !I.IsHidden)
    X.D.Watch->syncThreads(X.thread(First), Bar.Uid, I.Id);
  if (const char *Why = misuse(X, Bar, Expected, P, Number))
    return X.fault(I, First, Fault::Kind::BarrierDivergence,
                   fmt::format("barrier {} {}", Number, Why));
  Bar.Arrived[X.W->Index] |= X.Mask;
  if (I.Op[3].IsValid) {
    uint32_t Yes = X.bits(I.Op[3]) & X.Mask;
    Bar.Count += std::popcount(Yes);
    Bar.All &= Yes == X.Mask;
  }
  if (X.D.Watch)
    forLanes(X.Mask, [&](unsigned L) {
      X.D.Watch->barrierArrive(X.thread(L), Bar.Uid, BarrierKind::CTA);
    });
  if (P.Kind != What::Arrive) {
    X.F->Barrier = Number;
    X.D.setState(*X.F, Fragment::State::Barrier);
  }
  if (isComplete(*X.B, Bar))
    finish(X.D, *X.B, Number);
  return P.Kind == What::Arrive ? Outcome::Next : Outcome::Stop;
}

/// Whether the barrier's number, the operand `N` of those before `Last`, is 0.
bool isZero(Decoder &D, size_t N, size_t Last) {
  return N >= Last || (D.operand(N).What == Operand::Kind::Integer &&
                       D.operand(N).Bits == 0);
}

bool bar(Decoder &D) {
  bool IsBar = D.opcode() == "bar";
  if (D.has("warp") || D.has("cluster"))
    return false;
  D.take("cta");
  std::string_view Kind = D.takeOneOf({"sync", "arrive", "red"});
  bool IsAligned = D.take("aligned") || IsBar;
  What W = Kind == "arrive" ? What::Arrive : What::Sync;
  size_t N = 0;
  Ref Result, Predicate;
  if (Kind.empty())
    return false;
  if (Kind == "red") {
    std::string_view How = D.takeOneOf({"and", "or", "popc"});
    W = How == "and" ? What::And : How == "or" ? What::Or : What::Popc;
    if (D.takeType() !=
            (W == What::Popc ? ScalarType::U32 : ScalarType::Pred) ||
        How.empty())
      return false;
    const Operand &To = D.operand(N++);
    Result = W == What::Popc ? D.dest(To, 4) : D.destPredicate(To);
    Predicate = D.predicate(D.operand(D.numOperands() - 1));
  }
  size_t Last = D.numOperands() - (Kind == "red" ? 1 : 0);
  Ref Number = N < Last ? D.source(N, 4) : D.constant(0, 4);
  Ref Count = N + 1 < Last ? D.source(N + 1, 4) : Ref();
  Instruction &I = D.emit(barOp, {Number, Count, Result, Predicate});
  const bool MayBeSyncThreads =
      IsAligned && W != What::Arrive && !Count.IsValid && isZero(D, N, Last);
  I.Aux = uint64_t(W) | (IsAligned ? 256 : 0) | (MayBeSyncThreads ? 512 : 0);
  I.NeedsWholeFragment = true;
  return true;
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

/// Others may run before a fence: what it does not order must show.
void emitFence(Decoder &D, MemoryOrder S, Scope Within) {
  Instruction &I = D.emit([](Execution &X, const Instruction &I) {
    // Of two fences, one must see what comes before the other.
    if (X.D.Buffer && I.How.Order == MemoryOrder::SequentiallyConsistent &&
        I.How.Within != Scope::Block)
      return X.D.takeTurn(*X.F);
    X.fence(I);
    return Outcome::Next;
  });
  I.How = {S, Within};
  I.IsVisible = true;
}

Outcome asyncProxyFence(Execution &X, const Instruction &) {
  if (X.D.Watch)
    forLanes(X.Mask, [&](unsigned L) { X.D.Watch->proxyFence(X.thread(L)); });
  return Outcome::Next;
}

bool fence(Decoder &D) {
  // The machine has one memory, and only observers ask for proxies.
  const bool IsOfProxies = !D.takePrefixed("proxy").empty();
  const bool IsOfAsync = IsOfProxies && !D.takePrefixed("async").empty();
  // Orders only mbarrier.init before it, which is no access for observers.
  const bool IsOfInit = D.take("mbarrier_init");
  if (IsOfProxies || IsOfInit) {
    while (!D.takePrefixed("").empty())
      ;
    if (IsOfAsync)
      D.emit(asyncProxyFence).IsVisible = true;
    else
      D.emit([](Execution &, const Instruction &) {
         return Outcome::Next;
       }).IsVisible = IsOfInit;
    return true;
  }
  std::string_view Kind = D.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  while (!D.takePrefixed("sync_restrict").empty())
    ;
  MemoryOrder S = Kind == "sc"        ? MemoryOrder::SequentiallyConsistent
                  : Kind == "acquire" ? MemoryOrder::Acquire
                  : Kind == "release" ? MemoryOrder::Release
                                      : MemoryOrder::AcquireRelease;
  emitFence(D, S, D.takeScope(Scope::System));
  return true;
}

bool membar(Decoder &D) {
  if (D.has("proxy"))
    return fence(D);
  Scope Within = D.take("gl") ? Scope::Device : D.takeScope(Scope::System);
  emitFence(D, MemoryOrder::SequentiallyConsistent, Within);
  return true;
}

//===----------------------------------------------------------------------===//
// Programmatic dependent launch
//===----------------------------------------------------------------------===//

Outcome launchDependentsOp(Execution &X, const Instruction &) {
  Device::letDependentsStart(*X.B);
  return Outcome::Next;
}

Outcome waitForGridOp(Execution &X, const Instruction &) {
  if (X.G->Overlaps) {
    X.D.setState(*X.F, Fragment::State::Grid); // Looks again when woken.
    return Outcome::Stop;
  }
  if (X.D.Watch)
    forLanes(X.Mask,
             [&](unsigned L) { X.D.Watch->gridDependencyWait(X.thread(L)); });
  return Outcome::Next;
}

bool griddepcontrol(Decoder &D) {
  const bool Waits = D.take("wait");
  if (!Waits && !D.take("launch_dependents"))
    return false;
  Instruction &I = D.emit(Waits ? waitForGridOp : launchDependentsOp);
  I.NeedsWholeFragment = Waits;
  I.IsVisible = true;
  return true;
}

} // namespace

void Device::recheckBarriers(Block &B) {
  for (unsigned N = 0; N < B.Barriers.size(); ++N)
    if (isComplete(B, B.Barriers[N]))
      finish(*this, B, N);
}

void crsan::sim::addBarrierOps(DecodeTable &T) {
  T.add({"bar", "barrier"}, bar);
  T.add("fence", fence);
  T.add("membar", membar);
  T.add("griddepcontrol", griddepcontrol);
}
