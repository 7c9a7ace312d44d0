//===- AsyncCopies.cpp - cp.async, cp.async.bulk, cp.reduce.async.bulk ----===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy is issued, and moves its data at a time that the schedule chooses;
// waiting for it is sleeping until that time.
//
//===----------------------------------------------------------------------===//
#include "ops/AtomicKinds.h"
#include "ops/MBarrier.h"
#include "ops/MemoryModifiers.h"

#include <fmt/format.h>
#include <utility>

using namespace crsan::sim;
using crsan::ptx::Operand;

namespace {

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

/// One copy of one lane, with all that it needs when the lane is elsewhere.
struct Transfer {
  ThreadRef Thread;
  int32_t Instruction;
  std::shared_ptr<AsyncCopy> What;
  Completion Ends;
  Place From, To;
  uint32_t Read = 0, Written = 0; ///< Bytes; the rest is zeros.
  Block *BarrierOf = nullptr;
  uint32_t BarrierAt = 0;
  /// Of cp.reduce: what is there is combined with what comes. Else no type.
  AtomicKind Reduces = AtomicKind::Add;
  ScalarType Type = ScalarType::None;
};

uint64_t reportedAddress(const Place &P) {
  return P.In == Place::Kind::Shared
             ? SharedAddress::make(P.Owner->Uid, P.Offset)
             : reinterpret_cast<uint64_t>(P.Bytes);
}

void tellAccess(Device &D, const Transfer &T, const Place &P, uint32_t Size,
                uint8_t Flags) {
  Access A;
  A.Flags = Flags;
  A.Space = P.In == Place::Kind::Shared ? Space::Shared : Space::Global;
  A.IsAsync = true;
  A.Address = reportedAddress(P);
  A.Size = Size;
  A.Instruction = T.Instruction;
  A.Async = T.What->Id;
  D.Watch->access(T.Thread, A);
}

/// Each element by itself, relaxed, as PTX has it.
void reduce(Device &D, const Transfer &T) {
  const unsigned Size = crsan::ptx::sizeOf(T.Type);
  for (uint32_t At = 0; At < T.Written; At += Size) {
    if (D.Watch) {
      Access A;
      A.Space = T.To.In == Place::Kind::Shared ? Space::Shared : Space::Global;
      A.Order = MemoryOrder::Relaxed;
      A.Within = Scope::Device;
      A.Flags = WritesMemory | IsAtomic;
      A.IsAsync = true;
      A.Address = reportedAddress(T.To) + At;
      A.Size = Size;
      A.Instruction = T.Instruction;
      A.Async = T.What->Id;
      D.Watch->access(T.Thread, A);
    }
    uint64_t Old = 0, With = 0;
    std::memcpy(&Old, T.To.Bytes + At, Size);
    std::memcpy(&With, T.From.Bytes + At, Size);
    uint64_t New = newValue(T.Reduces, T.Type, Old, With, 0);
    std::memcpy(T.To.Bytes + At, &New, Size);
  }
}

void perform(Device &D, const Transfer &T) {
  if (D.Watch) {
    if (T.Read)
      tellAccess(D, T, T.From, T.Read, ReadsMemory);
    if (T.Type == ScalarType::None)
      tellAccess(D, T, T.To, T.Written, WritesMemory);
  }
  if (T.Type != ScalarType::None) {
    reduce(D, T);
  } else {
    D.copyMemory(T.To, T.From, T.Read);
    std::memset(T.To.Bytes + T.Read, 0, T.Written - T.Read);
  }
  if (T.To.In == Place::Kind::Shared &&
      T.To.Offset < T.To.Owner->Written.size())
    std::fill_n(T.To.Owner->Written.begin() + T.To.Offset, T.Written, 1);
  T.What->IsDone = true;
  uint64_t Phase = 0;
  if (T.BarrierOf) {
    MBarrier B(D, *T.BarrierOf, T.BarrierAt);
    Phase = B.currentUid();
    if (D.Watch)
      D.Watch->asyncComplete(T.Thread, T.What->Id, T.Ends, Phase);
    B.expect(-int64_t(T.Written));
    return;
  }
  if (D.Watch)
    D.Watch->asyncComplete(T.Thread, T.What->Id, T.Ends, 0);
}

uint64_t chooseTime(Device &D) {
  if (D.Opt.Schedule == Options::Policy::RoundRobin)
    return D.Now + 500;
  return D.Now + (D.Dice.oneIn(4) ? 0 : D.Dice.below(3000));
}

/// The cluster stays until its copies are done. Those that read and write what
/// multiprocessors share are done between rounds.
void runLater(Device &D, Cluster &C, uint64_t Time, std::function<void()> What,
              bool IsShared = false) {
  ++C.Pending;
  auto Finish = [&D, &C, What = std::move(What)] {
    What();
    if (--C.Pending == 0 && C.Live == 0)
      D.Doomed.push_back(&C);
  };
  D.at(Time, [&D, IsShared, Finish = std::move(Finish)] {
    if (IsShared && D.Buffer)
      D.Ending.push_back(Finish);
    else
      Finish();
  });
}

void issue(Execution &X, std::vector<Transfer> Transfers) {
  if (Transfers.empty())
    return;
  uint64_t Time = Transfers.front().What->Due;
  for (const Transfer &T : Transfers)
    if (X.D.Watch)
      X.D.Watch->asyncIssue(T.Thread, T.What->Id, T.Ends);
  const Transfer &First = Transfers.front();
  bool IsShared =
      First.Type != ScalarType::None && First.To.In == Place::Kind::Global;
  runLater(
      X.D, *X.B->In, Time,
      [&D = X.D, Transfers = std::move(Transfers)] {
        for (const Transfer &T : Transfers)
          perform(D, T);
      },
      IsShared);
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// Op: destination, source, bytes read, or predicate of those who ignore the
/// source. Imm, Aux (low): offsets of the two; Aux >> 56: bytes.
Outcome copyOp(Execution &X, const Instruction &I) {
  const uint32_t Bytes = uint32_t(I.Aux >> 56);
  const int64_t FromOffset = int64_t(I.Aux << 8) >> 8;
  std::vector<Transfer> Transfers;
  uint64_t Due = chooseTime(X.D);
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Transfer T;
    T.Thread = X.thread(L);
    T.Instruction = I.Id;
    T.Ends = Completion::Group;
    T.Written = Bytes;
    T.Read = I.Op[2].IsValid
                 ? uint32_t(std::min<uint64_t>(X.value(I.Op[2], L), Bytes))
                 : Bytes;
    if (I.Op[3].IsValid && X.bits(I.Op[3]) >> L & 1)
      T.Read = 0;
    T.To = X.resolve(StateSpace::Shared, I, L, X.address(I, I.Op[0], L),
                     {{WritesMemory}, Bytes, Bytes});
    if (!T.To.Bytes)
      return Outcome::Faulted;
    uint64_t From =
        X.address(I, I.Op[1], L) - uint64_t(I.Imm) + uint64_t(FromOffset);
    T.From = T.To;
    if (T.Read) {
      T.From = X.resolve(StateSpace::Global, I, L, From,
                         {{ReadsMemory}, T.Read, Bytes, 1, true});
      if (!T.From.Bytes)
        return Outcome::Faulted;
    }
    T.What =
        std::make_shared<AsyncCopy>(AsyncCopy{X.D.NextAsync++, Due, false});
    X.W->Copies[L].Open.push_back(T.What);
    Transfers.push_back(std::move(T));
  }
  issue(X, std::move(Transfers));
  return Outcome::Next;
}

bool copy(Decoder &D) {
  if (!D.take("async") || D.has("bulk") || D.has("mbarrier") ||
      D.takeOneOf({"ca", "cg"}).empty())
    return false;
  if (!D.take("shared") && !D.take("shared::cta"))
    return false;
  if (!D.take("global"))
    return false;
  bool HasHint = D.take("L2::cache_hint");
  D.takePrefixed("L2::");
  auto Bytes = D.integer(D.operand(2));
  if (!Bytes || (*Bytes != 4 && *Bytes != 8 && *Bytes != 16))
    return D.fail("the size of the copy is not 4, 8 or 16");
  Address To = D.address(D.operand(0), StateSpace::Shared),
          From = D.address(D.operand(1), StateSpace::Global);
  Ref Read, Ignore;
  if (D.numOperands() - (HasHint ? 1 : 0) > 3) {
    const Operand &O = D.operand(3);
    bool IsPredicate = false;
    if (O.What == Operand::Kind::Name)
      IsPredicate = D.isPredicate(O);
    if (IsPredicate)
      Ignore = D.predicate(O);
    else
      Read = D.source(O, 4);
  }
  Instruction &I = D.emit(copyOp, {To.Base, From.Base, Read, Ignore});
  I.Imm = To.Offset;
  I.Aux = *Bytes << 56 | (uint64_t(From.Offset) << 8 >> 8);
  I.Space = StateSpace::Shared;
  I.IsVisible = true;
  return true;
}

//===----------------------------------------------------------------------===//
// Groups. Aux: 1 bulk, 2 also what is not committed (wait_all), 4 .read
//===----------------------------------------------------------------------===//

Outcome commitOp(Execution &X, const Instruction &I) {
  forLanes(X.Mask, [&](unsigned L) {
    LaneCopies &C = X.W->Copies[L];
    auto &Open = I.Aux & 1 ? C.OpenBulk : C.Open;
    (I.Aux & 1 ? C.BulkGroups : C.Groups).push_back(std::exchange(Open, {}));
  });
  return Outcome::Next;
}

Outcome waitOp(Execution &X, const Instruction &I) {
  uint64_t Due = 0;
  const size_t Keep = size_t(I.Imm);
  forLanes(X.Mask, [&](unsigned L) {
    LaneCopies &C = X.W->Copies[L];
    auto &Groups = I.Aux & 1 ? C.BulkGroups : C.Groups;
    if (I.Aux & 2)
      Groups.push_back(std::exchange(C.Open, {}));
    for (size_t N = 0; N + Keep < Groups.size(); ++N)
      for (auto &Copy : Groups[N])
        if (!Copy->IsDone)
          Due = std::max(Due, Copy->Due + 1);
  });
  if (Due) {
    X.D.sleep(*X.F, Due > X.D.Now ? Due - X.D.Now : 1); // And looks again.
    return Outcome::Stop;
  }
  forLanes(X.Mask, [&](unsigned L) {
    LaneCopies &C = X.W->Copies[L];
    auto &Groups = I.Aux & 1 ? C.BulkGroups : C.Groups;
    ThreadRef Thread = X.thread(L);
    while (Groups.size() > Keep) {
      if (X.D.Watch)
        for (auto &Copy : Groups.front())
          X.D.Watch->asyncWaited(Thread, Copy->Id, I.Aux & 4);
      Groups.pop_front();
    }
  });
  return Outcome::Next;
}

bool groups(Decoder &D) {
  if (!D.take("async"))
    return false;
  bool IsBulk = D.take("bulk");
  if (D.take("commit_group")) {
    D.emit(commitOp).Aux = IsBulk;
    return true;
  }
  bool All = !IsBulk && D.take("wait_all");
  if (!All && !D.take("wait_group"))
    return false;
  bool Read = IsBulk && D.take("read");
  auto Keep = All ? std::optional<uint64_t>(0) : D.integer(D.operand(0));
  if (!Keep)
    return false;
  Instruction &I = D.emit(waitOp);
  I.Imm = int64_t(*Keep);
  I.Aux = (IsBulk ? 1 : 0) | (All ? 2 : 0) | (Read ? 4 : 0);
  I.NeedsWholeFragment = true;
  return true;
}

//===----------------------------------------------------------------------===//
// cp.async.mbarrier.arrive: Aux 1: .noinc
//===----------------------------------------------------------------------===//

Outcome arriveLaterOp(Execution &X, const Instruction &I) {
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Place P = X.resolve(I, L, X.address(I, I.Op[0], L), {{AtomicUpdate}, 8, 8});
    if (!P.Bytes)
      return Outcome::Faulted;
    if (P.In != Place::Kind::Shared)
      return X.fault(I, L, Fault::Kind::InvalidAddress,
                     "an mbarrier object must be in shared memory");
    if (!I.Aux)
      MBarrier(X.D, *P.Owner, P.Offset).addPending(1);
    LaneCopies &C = X.W->Copies[L];
    LaneCopies::Group Earlier = C.Open;
    for (auto &G : C.Groups)
      Earlier.insert(Earlier.end(), G.begin(), G.end());
    uint64_t Due = X.D.Now;
    for (auto &Copy : Earlier)
      Due = std::max(Due, Copy->Due);
    runLater(X.D, *X.B->In, Due,
             [&D = X.D, P, Thread = X.thread(L), Earlier = std::move(Earlier)] {
               MBarrier B(D, *P.Owner, P.Offset);
               if (D.Watch)
                 for (auto &Copy : Earlier)
                   D.Watch->asyncComplete(Thread, Copy->Id,
                                          Completion::MBarrier, B.currentUid());
               B.arrive(1);
             });
  }
  return Outcome::Next;
}

bool arriveLater(Decoder &D) {
  if (!D.take("async") || !D.take("mbarrier") || !D.take("arrive"))
    return false;
  bool NoInc = D.take("noinc");
  StateSpace S = D.takeSpace();
  D.take("b64");
  Address A = D.address(D.operand(0), S);
  Instruction &I = D.emit(arriveLaterOp, {A.Base});
  I.Space = S;
  I.Imm = A.Offset;
  I.Aux = NoInc;
  I.IsVisible = true;
  return true;
}

//===----------------------------------------------------------------------===//
// cp.async.bulk
//===----------------------------------------------------------------------===//

/// Op: destination, source, size, mbarrier. Offsets are in the bases.
/// Aux: destination and source spaces, and what reduces: kind, type.
Outcome bulkOp(Execution &X, const Instruction &I) {
  StateSpace ToSpace = StateSpace(I.Aux & 0xFF),
             FromSpace = StateSpace(I.Aux >> 8 & 0xFF);
  bool ByBarrier = I.Op[3].IsValid;
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Transfer T;
    T.Thread = X.thread(L);
    T.Instruction = I.Id;
    T.Ends = ByBarrier ? Completion::MBarrier : Completion::BulkGroup;
    uint32_t Size = uint32_t(X.value(I.Op[2], L));
    if (Size % 16)
      return X.fault(
          I, L, Fault::Kind::Misaligned,
          fmt::format("a bulk copy of {} bytes, not a multiple of 16", Size));
    T.Read = T.Written = Size;
    T.Reduces = AtomicKind(I.Aux >> 16 & 0xFF);
    T.Type = ScalarType(I.Aux >> 24 & 0xFF);
    T.To = X.resolve(ToSpace, I, L, X.address(I, I.Op[0], L),
                     {{WritesMemory}, Size, 16, 1, true});
    if (!T.To.Bytes)
      return Outcome::Faulted;
    T.From = X.resolve(FromSpace, I, L, X.address(I, I.Op[1], L),
                       {{ReadsMemory}, Size, 16, 1, true});
    if (!T.From.Bytes)
      return Outcome::Faulted;
    T.What = std::make_shared<AsyncCopy>(
        AsyncCopy{X.D.NextAsync++, chooseTime(X.D), false});
    if (ByBarrier) {
      Place B = X.resolve(StateSpace::Shared, I, L, X.address(I, I.Op[3], L),
                          {{AtomicUpdate}, 8, 8});
      if (!B.Bytes)
        return Outcome::Faulted;
      T.BarrierOf = B.Owner;
      T.BarrierAt = B.Offset;
    } else {
      X.W->Copies[L].OpenBulk.push_back(T.What);
    }
    std::vector<Transfer> One;
    One.push_back(std::move(T));
    issue(X, std::move(One));
  }
  return Outcome::Next;
}

bool bulk(Decoder &D) {
  const bool Reduces = D.take("reduce");
  if (!D.take("async") || !D.take("bulk") || D.has("tensor") ||
      D.has("multicast::cluster"))
    return false;
  if (!Reduces && D.take("prefetch")) {
    D.takePrefixed("L2");
    D.take("global");
    D.take("L2::cache_hint");
    D.emit([](Execution &, const Instruction &) { return Outcome::Next; });
    return true;
  }
  StateSpace To = D.takeSpace(), From = D.takeSpace();
  if (To == From && To != StateSpace::Shared)
    return false;
  // Which comes first tells the direction; takeSpace() looks for .global first.
  bool ToGlobal = !D.instruction().Modifiers.empty() && [&] {
    for (std::string_view M : D.instruction().Modifiers)
      if (M == "global" || M.substr(0, 6) == "shared")
        return M == "global";
    return false;
  }();
  if (To != From) {
    To = ToGlobal ? StateSpace::Global : StateSpace::Shared;
    From = ToGlobal ? StateSpace::Shared : StateSpace::Global;
  }
  bool ByBarrier = D.take("mbarrier::complete_tx::bytes");
  if (!ByBarrier && !D.take("bulk_group"))
    return false;
  D.take("L2::cache_hint");
  uint64_t Reduction = 0;
  if (Reduces) {
    auto Kind = takeAtomicKind(D);
    D.take("noftz");
    ScalarType T = D.takeType();
    if (!Kind || *Kind == AtomicKind::Cas || *Kind == AtomicKind::Exch ||
        To == StateSpace::Generic || !isAtomicKnown(*Kind, T))
      return false;
    Reduction = uint64_t(*Kind) | uint64_t(T) << 8;
  }
  auto Based = [&](size_t N, StateSpace S) {
    Address A = D.address(D.operand(N), S);
    return D.added(A.Base, A.Offset);
  };
  Ref Dst = Based(0, To), Src = Based(1, From), Size = D.source(2, 4),
      Barrier = ByBarrier ? Based(3, StateSpace::Shared) : Ref();
  Instruction &I = D.emit(bulkOp, {Dst, Src, Size, Barrier});
  I.Aux = uint64_t(To) | uint64_t(From) << 8 | Reduction << 16;
  I.IsVisible = true;
  return true;
}

} // namespace

void crsan::sim::addAsyncOps(DecodeTable &T) {
  T.add("cp", copy);
  T.add("cp", groups);
  T.add("cp", arriveLater);
}

void crsan::sim::addBulkOps(DecodeTable &T) { T.add("cp", bulk); }
