// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor.
#include "TensorMap.h"
#include "ops/MemoryModifiers.h"
#include "ops/Transfer.h"

#include <fmt/format.h>

#include <algorithm>

using namespace crsan::sim;
using crsan::ptx::Operand;

namespace {

/// A lane's tensor copy, while it is issued. It is made of transfers of
/// consecutive elements of both sides, each a copy of its own.
class TensorCopy {
public:
  TensorCopy(Execution &X, const Instruction &I, unsigned Lane)
      : X(X), I(I), Lane(Lane), Due(chooseTime(X.D)) {}

  Outcome begin(std::optional<uint32_t> Rank);
  std::vector<Transfer> Transfers;

private:
  bool isToShared() const { return I.Op[2].IsValid; }
  bool readMap();
  bool findBarrier(std::optional<uint32_t> Rank);
  bool addRow(uint32_t Number);
  bool add(uint64_t Shared, int64_t Global, uint32_t Bytes);

  Execution &X;
  const Instruction &I;
  const unsigned Lane;
  const uint64_t Due;
  TensorMap Map;
  std::array<int64_t, TensorMap::MaxRank> At{}; ///< Where the box begins.
  uint64_t Shared = 0;
  Referent Barrier;
};

bool TensorCopy::readMap() {
  const Referent R =
      X.resolve(StateSpace::Generic, I, Lane, X.address(I, I.Op[1], Lane),
                {{ReadsMemory}, 128, 64});
  if (!R.Bytes)
    return false;
  std::memcpy(&Map, R.Bytes, sizeof(Map));
  if (Map.Mark != TensorMap::TheMark || Map.Rank != I.NumMore) {
    X.fault(I, Lane, Fault::Kind::Unsupported,
            fmt::format("no tensor map of {} dimensions, made by "
                        "cuTensorMapEncodeTiled",
                        I.NumMore));
    return false;
  }
  for (unsigned D = 0; D < Map.Rank; ++D)
    At[D] = int32_t(X.value(I.More[D], Lane));
  return true;
}

bool TensorCopy::findBarrier(std::optional<uint32_t> Rank) {
  uint64_t A = X.address(I, I.Op[2], Lane);
  if (Rank)
    A = ClusterAddress::withRank(A, *Rank);
  Barrier = X.resolve(StateSpace::Shared, I, Lane, A, {{AtomicUpdate}, 8, 8});
  return Barrier.Bytes;
}

/// Some bytes of a row. `Global`: their place in the tensor; none: they are
/// beyond it, and zeros.
bool TensorCopy::add(uint64_t To, int64_t Global, uint32_t Bytes) {
  Transfer T;
  T.Thread = X.thread(Lane);
  T.Instruction = I.Id;
  T.Ends = isToShared() ? Completion::MBarrier : Completion::BulkGroup;
  T.Written = Bytes;
  T.Read = Global < 0 ? 0 : Bytes;
  const Referent InShared = X.resolve(
      StateSpace::Shared, I, Lane, To,
      {{isToShared() ? WritesMemory : ReadsMemory}, Bytes, 1, 1, true});
  if (!InShared.Bytes)
    return false;
  Referent InGlobal = InShared;
  if (Global >= 0)
    InGlobal = X.resolve(
        StateSpace::Global, I, Lane, Map.Base + uint64_t(Global),
        {{isToShared() ? ReadsMemory : WritesMemory}, Bytes, 1, 1, true});
  if (!InGlobal.Bytes)
    return false;
  T.To = isToShared() ? InShared : InGlobal;
  T.From = isToShared() ? InGlobal : InShared;
  if (I.Aux & 1) {
    T.Reduces = AtomicKind(I.Aux >> 8);
    T.Type = Map.Type;
  }
  T.What = newCopy(X.D, Due);
  if (isToShared()) {
    T.BarrierOf = Barrier.Owner;
    T.BarrierAt = Barrier.Offset;
  } else {
    X.W->Copies[Lane].OpenBulk.push_back(T.What);
  }
  Transfers.push_back(std::move(T));
  return true;
}

/// A row of the box, by its number in shared memory.
bool TensorCopy::addRow(uint32_t Number) {
  const uint64_t First = Shared + uint64_t(Number) * Map.rowBytes();
  int64_t Row = 0;
  bool IsInside = true;
  for (unsigned D = 1; D < Map.Rank; ++D) {
    const int64_t Index = At[D] + Number % Map.Box[D];
    Number /= Map.Box[D];
    IsInside &= Index >= 0 && uint64_t(Index) < Map.Sizes[D];
    Row += Index * int64_t(Map.Strides[D]);
  }
  const int64_t Element = Map.elementBytes();
  const int64_t Begin = At[0] * Element, Size = int64_t(Map.Sizes[0]) * Element;
  // Pieces within which nothing changes places.
  const uint32_t Piece = Map.Swizzle ? 16 : Map.rowBytes();
  for (uint32_t P = 0; P < Map.rowBytes(); P += Piece) {
    // The part of the piece that lies within the tensor.
    const int64_t Here = Begin + P;
    uint32_t From = Piece, To = Piece;
    if (IsInside) {
      From = uint32_t(std::clamp<int64_t>(-Here, 0, Piece));
      To = uint32_t(std::clamp<int64_t>(Size - Here, From, Piece));
    }
    const uint64_t Place = Map.swizzled(First + P);
    const struct {
      uint32_t Begin, End;
      bool IsInside;
    } Parts[] = {{0, From, false}, {From, To, true}, {To, Piece, false}};
    for (const auto &Part : Parts)
      if (Part.Begin < Part.End && (Part.IsInside || isToShared()) &&
          !add(Place + Part.Begin, Part.IsInside ? Row + Here + Part.Begin : -1,
               Part.End - Part.Begin))
        return false;
  }
  return true;
}

/// To or from the block of a rank of the cluster, or as the address says.
Outcome TensorCopy::begin(std::optional<uint32_t> Rank) {
  if (!readMap() || (isToShared() && !findBarrier(Rank)))
    return Outcome::Faulted;
  Shared = X.address(I, I.Op[0], Lane);
  if (Rank)
    Shared = ClusterAddress::withRank(Shared, *Rank);
  if (Shared % 128)
    return X.fault(I, Lane, Fault::Kind::Misaligned,
                   "a tensor copy's address in shared memory is not a multiple "
                   "of 128");
  if (!isToShared() && std::any_of(At.begin(), At.begin() + Map.Rank,
                                   [](int64_t C) { return C < 0; }))
    return X.fault(I, Lane, Fault::Kind::InvalidAddress,
                   "a tensor copy out of shared memory begins at a negative "
                   "coordinate");
  if ((I.Aux & 1) && !isAtomicKnown(AtomicKind(I.Aux >> 8), Map.Type))
    return X.fault(I, Lane, Fault::Kind::Unsupported,
                   "elements of this type cannot be reduced so");
  uint32_t Rows = 1;
  for (unsigned D = 1; D < Map.Rank; ++D)
    Rows *= Map.Box[D];
  for (uint32_t Row = 0; Row < Rows; ++Row)
    if (!addRow(Row))
      return Outcome::Faulted;
  return Outcome::Next;
}

/// Op: shared memory, map, mbarrier, mask of the cluster's blocks. More: the
/// coordinates. Offsets are in the bases. Aux: 1: it reduces, by the kind in
/// bits 8-15.
Outcome tensorOp(Execution &X, const Instruction &I) {
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    const unsigned L = std::countr_zero(M);
    TensorCopy Copy(X, I, L);
    Outcome O = Outcome::Next;
    if (!I.Op[3].IsValid)
      O = Copy.begin(std::nullopt);
    else
      for (uint32_t Ranks = uint32_t(X.value(I.Op[3], L));
           Ranks && O == Outcome::Next; Ranks &= Ranks - 1)
        O = Copy.begin(std::countr_zero(Ranks));
    if (O != Outcome::Next)
      return O;
    issue(X, std::move(Copy.Transfers));
  }
  return Outcome::Next;
}

bool tensor(Decoder &D) {
  const bool Reduces = D.take("reduce");
  if (!D.take("async") || !D.take("bulk") || D.has("prefetch") ||
      !D.take("tensor"))
    return false;
  if (D.takeOneOf({"1d", "2d", "3d", "4d", "5d"}).empty())
    return false;
  D.takeSpace();
  D.takeSpace();
  D.take("tile");
  const bool ToShared = D.take("mbarrier::complete_tx::bytes");
  if (!ToShared && !D.take("bulk_group"))
    return false;
  const bool ToMany = ToShared && D.take("multicast::cluster");
  D.take("L2::cache_hint");
  const auto Kind = Reduces ? takeAtomicKind(D) : std::nullopt;
  const Operand &Box = D.operand(ToShared ? 1 : 0);
  if ((Reduces && (!Kind || ToShared)) || Box.Elements.size() != 2)
    return false;
  auto Based = [&](const Operand &O, StateSpace S) {
    Address A = D.address(O, S);
    return D.added(A.Base, A.Offset);
  };
  Ref Shared = Based(D.operand(ToShared ? 0 : 1), StateSpace::Shared),
      Map = Based(Box, StateSpace::Generic),
      Barrier = ToShared ? Based(D.operand(2), StateSpace::Shared) : Ref(),
      Ranks = ToMany ? D.source(3, 2) : Ref();
  std::vector<Ref> Coordinates;
  for (const Operand &At : Box.Elements[1].Elements)
    Coordinates.push_back(D.source(At, 4));
  if (Coordinates.empty() || Coordinates.size() > TensorMap::MaxRank)
    return false;
  Instruction &I = D.emit(tensorOp, {Shared, Map, Barrier, Ranks});
  D.setMore(I, std::move(Coordinates));
  I.Aux = Reduces ? 1 | uint64_t(*Kind) << 8 : 0;
  I.IsVisible = true;
  return true;
}

/// Nothing that threads see: cp.async.bulk.prefetch.tensor.
bool prefetchTensor(Decoder &D) {
  if (!D.take("async") || !D.take("bulk") || !D.take("prefetch") ||
      !D.take("tensor"))
    return false;
  D.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  D.takePrefixed("L2");
  D.take("global");
  D.take("tile");
  D.take("L2::cache_hint");
  D.emit([](Execution &, const Instruction &) { return Outcome::Next; });
  return true;
}

} // namespace

void crsan::sim::addTensorOps(DecodeTable &T) {
  T.add("cp", tensor);
  T.add("cp", prefetchTensor);
}
