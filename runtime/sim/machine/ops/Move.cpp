// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mov, packing and unpacking of vectors, and annotations.
#include "ops/Lanes.h"

#include "Device.h"
#include "PTX/Classify.h"

using namespace crsan::sim;
using crsan::ptx::Annotation;
using crsan::ptx::Operand;

namespace {

template <class T> Outcome movOp(Execution &X, const Instruction &I) {
  T *To = X.row<T>(I.Op[0]);
  const T *A = X.row<T>(I.Op[1]);
  if (X.Mask == AllLanes)
    std::memmove(To, A, sizeof(T) * WarpSize);
  else
    forLanes(X.Mask, [&](unsigned L) { To[L] = A[L]; });
  return Outcome::Next;
}

Outcome movPredicate(Execution &X, const Instruction &I) {
  X.setBits(I.Op[0], X.bits(I.Op[1]));
  return Outcome::Next;
}

uint8_t *laneOf(Execution &X, const Ref &R, unsigned L) {
  return X.row<uint8_t>(R) + size_t(R.Size) * L;
}

/// Op[0] = More, the first element in the low bits.
Outcome packOp(Execution &X, const Instruction &I) {
  forLanes(X.Mask, [&](unsigned L) {
    uint8_t Bytes[16];
    uint8_t *Next = Bytes;
    for (unsigned E = 0; E < I.NumMore; ++E) {
      std::memcpy(Next, laneOf(X, I.More[E], L), I.More[E].Size);
      Next += I.More[E].Size;
    }
    std::memcpy(laneOf(X, I.Op[0], L), Bytes, I.Op[0].Size);
  });
  return Outcome::Next;
}

Outcome unpackOp(Execution &X, const Instruction &I) {
  forLanes(X.Mask, [&](unsigned L) {
    uint8_t Bytes[16];
    std::memcpy(Bytes, laneOf(X, I.Op[0], L), I.Op[0].Size);
    const uint8_t *Next = Bytes;
    for (unsigned E = 0; E < I.NumMore; ++E) {
      std::memcpy(laneOf(X, I.More[E], L), Next, I.More[E].Size);
      Next += I.More[E].Size;
    }
  });
  return Outcome::Next;
}

bool pack(Decoder &D, unsigned Size) {
  const auto &Elements = D.operand(1).Elements;
  std::vector<Ref> More;
  for (const Operand &E : Elements)
    More.push_back(D.source(E, Size / unsigned(Elements.size())));
  D.setMore(D.emit(packOp, {D.dest(0, Size)}), More);
  return true;
}

bool unpack(Decoder &D, unsigned Size) {
  const auto &Elements = D.operand(0).Elements;
  Ref From = D.source(1, Size);
  std::vector<Ref> More;
  for (const Operand &E : Elements)
    More.push_back(D.dest(E, Size / unsigned(Elements.size())));
  D.setMore(D.emit(unpackOp, {From}), More);
  return true;
}

/// The object that a generic address names: different ones in the shared memory
/// of different blocks.
uint64_t objectAt(const Execution &X, uint64_t Address) {
  const auto &Blocks = X.B->In->Blocks;
  const uint32_t Rank = ClusterAddress::rank(Address);
  return window::tag(Address) == window::Shared && Rank < Blocks.size()
             ? SharedAddress::make(Blocks[Rank]->Uid,
                                   ClusterAddress::offset(Address))
             : Address;
}

/// Aux: ptx::Annotation.
Outcome annotationOp(Execution &X, const Instruction &I) {
  if (X.D.Watch)
    forLanes(X.Mask, [&](unsigned L) {
      X.D.Watch->annotation(X.thread(L), Annotation(I.Aux),
                            objectAt(X, X.value(I.Op[0], L)));
    });
  return Outcome::Next;
}

bool annotation(Decoder &D, Annotation What) {
  Instruction &I = D.emit(annotationOp, {D.source(1, 8)});
  I.Aux = uint32_t(What);
  I.IsVisible = What != Annotation::Iteration;
  return true;
}

bool mov(Decoder &D) {
  ScalarType T = D.takeType();
  if (T == ScalarType::Pred) {
    Ref A = D.predicate(D.operand(1));
    D.emit(movPredicate, {D.destPredicate(D.operand(0)), A});
    return true;
  }
  unsigned Size = crsan::ptx::sizeOf(T);
  if (T == ScalarType::None)
    return false;
  if (const auto What = crsan::ptx::annotationOf(D.instruction());
      What && Size == 8)
    return annotation(D, *What);
  if (D.operand(1).What == Operand::Kind::Vector)
    return pack(D, Size);
  if (D.operand(0).What == Operand::Kind::Vector)
    return unpack(D, Size);
  Handler H = Size == 1    ? movOp<uint8_t>
              : Size == 2  ? movOp<uint16_t>
              : Size == 4  ? movOp<uint32_t>
              : Size == 8  ? movOp<uint64_t>
              : Size == 16 ? movOp<Wide>
                           : nullptr;
  if (!H)
    return false;
  Ref A = D.source(1, Size);
  D.emit(H, {D.dest(0, Size), A});
  return true;
}

} // namespace

void crsan::sim::addMoveOps(DecodeTable &T) { T.add("mov", mov); }
