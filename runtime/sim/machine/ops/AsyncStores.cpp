// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// st.async, red.async.
#include "ops/MemoryModifiers.h"
#include "ops/Transfer.h"

using namespace crsan::sim;
using crsan::ptx::Operand;

namespace {

/// Op: destination, mbarrier; offsets are in the bases. More: the elements.
/// Aux: bytes of an element, and what reduces: kind, type.
Outcome asyncStoreOp(Execution &X, const Instruction &I) {
  const uint32_t Size = I.Aux & 0xFF, Bytes = Size * I.NumMore;
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    const unsigned L = std::countr_zero(M);
    Transfer T;
    T.Thread = X.thread(L);
    T.Instruction = I.Id;
    T.Ends = Completion::MBarrier;
    T.Read = T.Written = Bytes;
    T.Reduces = AtomicKind(I.Aux >> 8 & 0xFF);
    T.Type = ScalarType(I.Aux >> 16 & 0xFF);
    T.Within = Scope::Cluster;
    T.To = X.resolve(StateSpace::Shared, I, L, X.address(I, I.Op[0], L),
                     {{WritesMemory}, Bytes, Bytes, uint8_t(I.NumMore), true});
    if (!T.To.Bytes)
      return Outcome::Faulted;
    const Referent Barrier =
        X.resolve(StateSpace::Shared, I, L, X.address(I, I.Op[1], L),
                  {{AtomicUpdate}, 8, 8});
    if (!Barrier.Bytes)
      return Outcome::Faulted;
    if (Barrier.Owner != T.To.Owner)
      return X.fault(I, L, Fault::Kind::InvalidAddress,
                     "the mbarrier of an asynchronous store must be in the "
                     "block that is stored to");
    T.BarrierOf = Barrier.Owner;
    T.BarrierAt = Barrier.Offset;
    T.From = T.To; // In shared memory; the bytes are known.
    T.What = newCopy(X.D, chooseTime(X.D));
    T.What->HasRead = true;
    T.What->Data.resize(Bytes);
    for (unsigned N = 0; N < I.NumMore; ++N) {
      const uint64_t Value = X.value(I.More[N], L);
      std::memcpy(&T.What->Data[N * Size], &Value, Size);
    }
    issue(X, {std::move(T)});
  }
  return Outcome::Next;
}

bool asyncStore(Decoder &D) {
  const bool Reduces = D.opcode() == "red";
  if (!D.take("async") || !D.take("mbarrier::complete_tx::bytes"))
    return false;
  D.take(Reduces ? "relaxed" : "weak");
  D.takeScope(Scope::Cluster);
  D.takeSpace();
  uint64_t Reduction = 0;
  auto Kind = Reduces ? takeAtomicKind(D) : std::nullopt;
  const bool IsVector = !Reduces && !D.takeOneOf({"v2", "v4"}).empty();
  const ScalarType Type = D.takeType();
  const unsigned Size = crsan::ptx::sizeOf(Type);
  if (Size != 4 && Size != 8)
    return false;
  if (Reduces) {
    if (!Kind || *Kind == AtomicKind::Cas || *Kind == AtomicKind::Exch ||
        !isAtomicKnown(*Kind, Type))
      return false;
    Reduction = uint64_t(*Kind) | uint64_t(Type) << 8;
  }
  const auto Based = [&](size_t N) {
    Address A = D.address(D.operand(N), StateSpace::Shared);
    return D.added(A.Base, A.Offset);
  };
  std::vector<Ref> Values;
  if (IsVector)
    for (const Operand &Element : D.operand(1).Elements)
      Values.push_back(D.source(Element, Size));
  else
    Values.push_back(D.source(1, Size));
  const Ref To = Based(0), Barrier = Based(2);
  Instruction &I = D.emit(asyncStoreOp, {To, Barrier});
  I.Aux = Size | Reduction << 8;
  I.IsVisible = true;
  D.setMore(I, Values);
  return true;
}

} // namespace

void crsan::sim::addAsyncStoreOps(DecodeTable &T) {
  T.add({"st", "red"}, asyncStore);
}
