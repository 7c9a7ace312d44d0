// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async and its groups.
#include "ops/MBarrier.h"
#include "ops/MemoryModifiers.h"
#include "ops/Transfer.h"

#include <utility>

using namespace crsan::sim;
using crsan::ptx::Operand;

namespace {

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
    T.What = newCopy(X.D, Due);
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

/// When the first groups of a lane are over, or have been read; 0: they are.
uint64_t dueOf(const std::deque<LaneCopies::Group> &Groups, size_t First,
               size_t End, bool ReadsOnly) {
  uint64_t Due = 0;
  for (size_t N = First; N < End; ++N)
    for (const auto &Copy : Groups[N])
      if (ReadsOnly ? !Copy->HasRead : !Copy->IsDone)
        Due = std::max(Due, (ReadsOnly ? Copy->ReadDue : Copy->Due) + 1);
  return Due;
}

Outcome waitOp(Execution &X, const Instruction &I) {
  const size_t Keep = size_t(I.Imm);
  const bool IsBulk = I.Aux & 1, ReadsOnly = I.Aux & 4;
  const auto ForGroups = [&](auto Do) {
    forLanes(X.Mask, [&](unsigned L) {
      LaneCopies &C = X.W->Copies[L];
      auto &Groups = IsBulk ? C.BulkGroups : C.Groups;
      const size_t End = Groups.size() > Keep ? Groups.size() - Keep : 0;
      // Those before have been told.
      Do(L, C, Groups, ReadsOnly ? std::min(C.ReadGroups, End) : 0, End);
    });
  };
  if (I.Aux & 2)
    forLanes(X.Mask, [&](unsigned L) {
      LaneCopies &C = X.W->Copies[L];
      C.Groups.push_back(std::exchange(C.Open, {}));
    });
  uint64_t Due = 0;
  ForGroups(
      [&](unsigned, LaneCopies &, auto &Groups, size_t First, size_t End) {
        Due = std::max(Due, dueOf(Groups, First, End, ReadsOnly));
      });
  if (Due) {
    X.D.sleep(*X.F, Due > X.D.Now ? Due - X.D.Now : 1); // And looks again.
    return Outcome::Stop;
  }
  ForGroups(
      [&](unsigned L, LaneCopies &C, auto &Groups, size_t First, size_t End) {
        ThreadRef Thread = X.thread(L);
        for (size_t N = First; N < End && X.D.Watch; ++N)
          for (auto &Copy : Groups[N])
            X.D.Watch->asyncWaited(Thread, Copy->Id, ReadsOnly);
        if (ReadsOnly) {
          C.ReadGroups = std::max(C.ReadGroups, End); // They may still write.
          return;
        }
        Groups.erase(Groups.begin(), Groups.begin() + ptrdiff_t(End));
        if (IsBulk)
          C.ReadGroups -= std::min(C.ReadGroups, End);
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
    auto Object = mbarrierAt(X, I, L, I.Op[0]);
    if (!Object)
      return Outcome::Faulted;
    if (!I.Aux)
      Object->addPending(1);
    LaneCopies &C = X.W->Copies[L];
    LaneCopies::Group Earlier = C.Open;
    for (auto &G : C.Groups)
      Earlier.insert(Earlier.end(), G.begin(), G.end());
    uint64_t Due = X.D.Now;
    for (auto &Copy : Earlier)
      Due = std::max(Due, Copy->Due);
    runLater(X.D, *X.B->In, Due,
             [&D = X.D, Object = *Object, Thread = X.thread(L),
              Earlier = std::move(Earlier)] {
               MBarrier B = Object.now();
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

} // namespace

void crsan::sim::addAsyncOps(DecodeTable &T) {
  T.add("cp", copy);
  T.add("cp", groups);
  T.add("cp", arriveLater);
}
