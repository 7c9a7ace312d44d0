// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk, cp.reduce.async.bulk.
#include "ops/MemoryModifiers.h"
#include "ops/Transfer.h"

#include <fmt/format.h>

using namespace crsan::sim;

namespace {

/// An address in the block of a rank of the cluster, if one is given.
uint64_t placed(uint64_t Address, std::optional<uint32_t> Rank) {
  return Rank ? ClusterAddress::withRank(Address, *Rank) : Address;
}

/// A lane's copy, to a block of the cluster or as the address says.
Outcome beginBulk(Execution &X, const Instruction &I, unsigned L,
                  std::optional<uint32_t> Rank) {
  const StateSpace ToSpace = StateSpace(I.Aux & 0xFF),
                   FromSpace = StateSpace(I.Aux >> 8 & 0xFF);
  const bool ByBarrier = I.Op[3].IsValid;
  Transfer T;
  T.Thread = X.thread(L);
  T.Instruction = I.Id;
  T.Ends = ByBarrier ? Completion::MBarrier : Completion::BulkGroup;
  const uint32_t Size = uint32_t(X.value(I.Op[2], L));
  if (Size % 16)
    return X.fault(
        I, L, Fault::Kind::Misaligned,
        fmt::format("a bulk copy of {} bytes, not a multiple of 16", Size));
  T.Read = T.Written = Size;
  T.Reduces = AtomicKind(I.Aux >> 16 & 0xFF);
  T.Type = ScalarType(I.Aux >> 24 & 0xFF);
  T.To = X.resolve(ToSpace, I, L, placed(X.address(I, I.Op[0], L), Rank),
                   {{WritesMemory}, Size, 16, 1, true});
  if (!T.To.Bytes)
    return Outcome::Faulted;
  T.From = X.resolve(FromSpace, I, L, X.address(I, I.Op[1], L),
                     {{ReadsMemory}, Size, 16, 1, true});
  if (!T.From.Bytes)
    return Outcome::Faulted;
  T.What = newCopy(X.D, chooseTime(X.D));
  if (ByBarrier) {
    Referent B = X.resolve(StateSpace::Shared, I, L,
                           placed(X.address(I, I.Op[3], L), Rank),
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
  return Outcome::Next;
}

/// Op: destination, source, size, mbarrier, mask of the cluster's blocks.
/// Offsets are in the bases.
/// Aux: destination and source spaces, and what reduces: kind, type.
Outcome bulkOp(Execution &X, const Instruction &I) {
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    const unsigned L = std::countr_zero(M);
    if (!I.Op[4].IsValid) {
      if (Outcome O = beginBulk(X, I, L, std::nullopt); O != Outcome::Next)
        return O;
      continue;
    }
    for (uint32_t Ranks = uint32_t(X.value(I.Op[4], L)); Ranks;
         Ranks &= Ranks - 1)
      if (Outcome O = beginBulk(X, I, L, std::countr_zero(Ranks));
          O != Outcome::Next)
        return O;
  }
  return Outcome::Next;
}

bool bulk(Decoder &D) {
  const bool Reduces = D.take("reduce");
  if (!D.take("async") || !D.take("bulk") || D.has("tensor"))
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
  const bool ToMany = ByBarrier && D.take("multicast::cluster");
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
      Barrier = ByBarrier ? Based(3, StateSpace::Shared) : Ref(),
      Ranks = ToMany ? D.source(4, 2) : Ref();
  Instruction &I = D.emit(bulkOp, {Dst, Src, Size, Barrier, Ranks});
  I.Aux = uint64_t(To) | uint64_t(From) << 8 | Reduction << 16;
  I.IsVisible = true;
  return true;
}

} // namespace

void crsan::sim::addBulkOps(DecodeTable &T) { T.add("cp", bulk); }
