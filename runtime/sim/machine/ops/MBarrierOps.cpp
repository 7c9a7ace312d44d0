// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier.*.
#include "ops/MBarrier.h"
#include "ops/MemoryModifiers.h"

using namespace crsan::sim;
using crsan::ptx::Operand;

std::optional<MBarrier> crsan::sim::mbarrierAt(Execution &X,
                                               const Instruction &I,
                                               unsigned Lane, const Ref &Base) {
  Referent At =
      X.resolve(I, Lane, X.address(I, Base, Lane), {{AtomicUpdate}, 8, 8});
  if (!At.Bytes)
    return std::nullopt;
  if (At.In != Referent::Kind::Shared) {
    X.fault(I, Lane, Fault::Kind::InvalidAddress,
            "an mbarrier object must be in shared memory");
    return std::nullopt;
  }
  return MBarrier(X.D, *At.Owner, At.Offset);
}

namespace {

Outcome initOp(Execution &X, const Instruction &I) {
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    auto B = mbarrierAt(X, I, L, I.Op[0]);
    if (!B)
      return Outcome::Faulted;
    uint64_t Count = X.value(I.Op[1], L);
    if (!Count || Count > MBarrier::MaxCount)
      return X.fault(I, L, Fault::Kind::Trap,
                     "mbarrier.init with a count out of range");
    B->init(uint32_t(Count));
  }
  return Outcome::Next;
}

Outcome txOp(Execution &X, const Instruction &I) {
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    auto B = mbarrierAt(X, I, L, I.Op[0]);
    if (!B)
      return Outcome::Faulted;
    int64_t Bytes = int64_t(X.value(I.Op[1], L));
    B->expect(I.Aux ? -Bytes : Bytes);
  }
  return Outcome::Next;
}

/// Op: state, base, count. Aux: 1 expects bytes (count is theirs), 2 drops.
Outcome arriveOp(Execution &X, const Instruction &I) {
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    auto B = mbarrierAt(X, I, L, I.Op[1]);
    if (!B)
      return Outcome::Faulted;
    uint64_t N = I.Op[2].IsValid ? X.value(I.Op[2], L) : 1;
    if (I.Op[0].IsValid)
      X.setValue(I.Op[0], L, B->word());
    if (X.D.Watch)
      X.D.Watch->barrierArrive(X.thread(L), B->currentUid(),
                               BarrierKind::MBarrier, I.How.Order,
                               I.How.Within);
    if (I.Aux & 1)
      B->expect(int64_t(N));
    uint32_t Count = I.Aux & 1 ? 1 : uint32_t(N);
    if (!(I.Aux & 2 ? B->drop(Count) : B->arrive(Count)))
      return X.fault(
          I, L, Fault::Kind::Trap,
          "more threads arrive at an mbarrier than its phase expects");
  }
  return Outcome::Next;
}

/// Op: p, base, state or parity. Aux: 1 parity, 2 try_wait.
Outcome testOp(Execution &X, const Instruction &I) {
  uint32_t Done = 0;
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    auto B = mbarrierAt(X, I, L, I.Op[1]);
    if (!B)
      return Outcome::Faulted;
    uint64_t S = X.value(I.Op[2], L);
    bool Is = I.Aux & 1 ? B->phase() != bool(S & 1)
                        : B->phase() != MBarrier::phaseOf(S);
    Done |= uint32_t(Is) << L;
    if (Is && X.D.Watch && B->lastUid())
      X.D.Watch->barrierLeave(X.thread(L), B->lastUid(), BarrierKind::MBarrier,
                              I.How.Order, I.How.Within);
  }
  X.setBits(I.Op[0], Done);
  if (Done == X.Mask || !(I.Aux & 2))
    return Outcome::Next;
  // A potentially blocking try: gives up after a while, as it may.
  ++X.F->Pc;
  X.D.sleep(*X.F, 100);
  return Outcome::Stop;
}

bool init(Decoder &D, StateSpace S, Address A) {
  Ref Count = D.source(1, 4);
  Instruction &I = D.emit(initOp, {A.Base, Count});
  I.Space = S;
  I.Imm = A.Offset;
  I.IsVisible = true;
  return true;
}

bool tx(Decoder &D, bool IsComplete) {
  D.take("relaxed");
  D.takeScope(Scope::Block);
  StateSpace S = D.takeSpace();
  D.take("b64");
  Address A = D.address(D.operand(0), S);
  Ref Count = D.source(1, 4);
  Instruction &I = D.emit(txOp, {A.Base, Count});
  I.Space = S;
  I.Imm = A.Offset;
  I.Aux = IsComplete;
  I.IsVisible = true;
  return true;
}

bool arrive(Decoder &D, bool Drops) {
  bool Expects = D.take("expect_tx");
  D.take("noComplete");
  MemoryOrder Order = takeOrder(D, MemoryOrder::Release);
  Scope Within = D.takeScope(Scope::Block);
  StateSpace S = D.takeSpace();
  D.take("b64");
  // The result is absent for objects of other blocks, or a sink.
  bool HasResult = D.operand(0).What != Operand::Kind::Address;
  size_t N = HasResult ? 1 : 0;
  Address A = D.address(D.operand(N), S);
  Ref Count = D.numOperands() > N + 1 ? D.source(N + 1, 4) : Ref();
  if (Expects && !Count.IsValid)
    return false;
  Ref To = HasResult && D.operand(0).What != Operand::Kind::Discard
               ? D.dest(0, 8)
               : Ref();
  Instruction &I = D.emit(arriveOp, {To, A.Base, Count});
  I.Space = S;
  I.Imm = A.Offset;
  I.How = {Order, Within};
  I.Aux = (Expects ? 1 : 0) | (Drops ? 2 : 0);
  I.IsVisible = true;
  return true;
}

bool test(Decoder &D, bool IsTry) {
  bool Parity = D.take("parity");
  MemoryOrder Order = takeOrder(D, MemoryOrder::Acquire);
  Scope Within = D.takeScope(Scope::Block);
  StateSpace S = D.takeSpace();
  D.take("b64");
  Address A = D.address(D.operand(1), S);
  Ref State = D.source(2, Parity ? 4 : 8); // A time to wait may follow: a hint.
  Ref To = D.destPredicate(D.operand(0));
  Instruction &I = D.emit(testOp, {To, A.Base, State});
  I.Space = S;
  I.Imm = A.Offset;
  I.How = {Order, Within};
  I.Aux = (Parity ? 1 : 0) | (IsTry ? 2 : 0);
  I.NeedsWholeFragment = IsTry;
  I.IsVisible = true;
  return true;
}

bool mbarrier(Decoder &D) {
  bool IsInit = D.take("init");
  if (IsInit || D.take("inval")) {
    StateSpace S = D.takeSpace();
    D.take("b64");
    Address A = D.address(D.operand(0), S);
    if (IsInit)
      return init(D, S, A);
    D.emit([](Execution &, const Instruction &) { return Outcome::Next; },
           {A.Base});
    return true;
  }
  if (D.take("expect_tx") && !D.has("arrive") && !D.has("arrive_drop"))
    return tx(D, false);
  if (D.take("complete_tx"))
    return tx(D, true);
  if (D.take("test_wait"))
    return test(D, false);
  if (D.take("try_wait"))
    return test(D, true);
  if (D.take("pending_count")) {
    D.take("b64");
    Ref State = D.source(1, 8);
    D.emit(slow<[](uint64_t A, uint64_t, uint64_t, const Instruction &) {
             return A & MBarrier::MaxCount;
           }>,
           {D.dest(0, 4), State});
    return true;
  }
  return false;
}

/// arrive has .expect_tx after it, so it comes first.
bool mbarrierArrive(Decoder &D) {
  if (D.take("arrive"))
    return arrive(D, false);
  return D.take("arrive_drop") && arrive(D, true);
}

} // namespace

void crsan::sim::addMBarrierOps(DecodeTable &T) {
  T.add("mbarrier", mbarrierArrive);
  T.add("mbarrier", mbarrier);
}
