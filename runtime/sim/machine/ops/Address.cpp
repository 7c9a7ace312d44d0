// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvta, isspacep, mapa, getctarank.
#include "ops/Lanes.h"

#include "Device.h"

using namespace crsan::sim;

namespace {

uint64_t windowOf(StateSpace S) {
  switch (S) {
  case StateSpace::Shared:
    return window::Shared;
  case StateSpace::Local:
    return window::Local;
  case StateSpace::Param:
    return window::Param;
  default:
    return 0;
  }
}

/// Imm: the window. As on an H200, 32 bits of the address count.
uint64_t toGeneric(uint64_t A, uint64_t, uint64_t, const Instruction &I) {
  return uint32_t(A) | uint64_t(I.Imm);
}
uint64_t fromGeneric(uint64_t A, uint64_t, uint64_t, const Instruction &I) {
  return window::tag(A) == uint64_t(I.Imm) ? A & ~uint64_t(I.Imm) : A;
}

bool cvta(Decoder &D) {
  bool To = D.take("to");
  StateSpace S = D.takeSpace();
  unsigned Size = crsan::ptx::sizeOf(D.takeType());
  if (Size != 8 || S == StateSpace::Generic)
    return false;
  Ref A = D.source(1, 8);
  Ref R = D.dest(0, 8);
  uint64_t Window = windowOf(S);
  // Global and constant addresses are what they are.
  Handler H = !Window ? unary<[](uint64_t A) { return A; }, uint64_t>
              : To    ? slow<fromGeneric>
                      : slow<toGeneric>;
  D.emit(H, {R, A}).Imm = int64_t(Window);
  return true;
}

enum class Inside : uint8_t {
  Global,
  Const,
  SharedBlock,
  SharedCluster,
  Local,
  Param
};

bool isInside(Execution &X, Inside What, uint64_t A) {
  uint64_t Tag = window::tag(A);
  switch (What) {
  case Inside::Global:
  case Inside::Const: {
    if (Tag)
      return false;
    const AllocationTable::Range *R = X.D.Table.find(A, 1);
    return (R && R->IsReadOnly) == (What == Inside::Const);
  }
  case Inside::SharedCluster:
    return Tag == window::Shared;
  case Inside::SharedBlock:
    return Tag == window::Shared && ClusterAddress::rank(A) == X.B->Rank;
  case Inside::Local:
    return Tag == window::Local;
  case Inside::Param:
    return Tag == window::Param;
  }
  return false;
}

Outcome isspacepOp(Execution &X, const Instruction &I) {
  uint32_t Is = 0;
  const uint64_t *A = X.row<uint64_t>(I.Op[1]);
  forLanes(X.Mask, [&](unsigned L) {
    Is |= uint32_t(isInside(X, Inside(I.Aux), A[L])) << L;
  });
  X.setBits(I.Op[0], Is);
  return Outcome::Next;
}

bool isspacep(Decoder &D) {
  static constexpr std::pair<std::string_view, Inside> Names[] = {
      {"global", Inside::Global},
      {"const", Inside::Const},
      {"shared::cluster", Inside::SharedCluster},
      {"shared::cta", Inside::SharedBlock},
      {"shared", Inside::SharedBlock},
      {"local", Inside::Local},
      {"param::entry", Inside::Param},
      {"param", Inside::Param}};
  for (auto [Name, What] : Names)
    if (D.take(Name)) {
      Ref A = D.source(1, 8);
      D.emit(isspacepOp, {D.destPredicate(D.operand(0)), A}).Aux =
          uint64_t(What);
      return true;
    }
  return false;
}

/// The same offset in the shared memory of another block of the cluster.
Outcome mapaOp(Execution &X, const Instruction &I) {
  forLanes(X.Mask, [&](unsigned L) {
    uint64_t A = X.value(I.Op[1], L), Rank = X.value(I.Op[2], L);
    X.setValue(I.Op[0], L, ClusterAddress::withRank(A, uint32_t(Rank)));
  });
  return Outcome::Next;
}

bool mapa(Decoder &D) {
  D.takeSpace();
  unsigned Size = crsan::ptx::sizeOf(D.takeType());
  if (Size != 4 && Size != 8)
    return false;
  Ref A = D.source(1, Size), Rank = D.source(2, 4);
  D.emit(mapaOp, {D.dest(0, Size), A, Rank});
  return true;
}

Outcome getctarankOp(Execution &X, const Instruction &I) {
  forLanes(X.Mask, [&](unsigned L) {
    X.setValue(I.Op[0], L, ClusterAddress::rank(X.value(I.Op[1], L)));
  });
  return Outcome::Next;
}

bool getctarank(Decoder &D) {
  D.takeSpace();
  unsigned Size = crsan::ptx::sizeOf(D.takeType());
  Ref A = D.source(1, Size);
  D.emit(getctarankOp, {D.dest(0, 4), A});
  return true;
}

} // namespace

void crsan::sim::addAddressOps(DecodeTable &T) {
  T.add("cvta", cvta);
  T.add("isspacep", isspacep);
  T.add("mapa", mapa);
  T.add("getctarank", getctarank);
}
