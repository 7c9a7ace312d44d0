// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shfl, vote, match, redux, elect, bar.warp.sync.
//
// When lanes go on: Collectives.h. bar.warp.sync completes from different
// places, too.
#include "ops/Collectives.h"

#include <algorithm>

using namespace crsan::sim;
using crsan::ptx::Operand;

//===----------------------------------------------------------------------===//
// Lanes at several instructions
//===----------------------------------------------------------------------===//

const Ref &JointCollective::operand(const Instruction &I, unsigned N) {
  static const Ref None;
  return N < I.Op.size() ? I.Op[N] : I.NumMore ? I.More[0] : None;
}

uint64_t JointCollective::get(const Execution &X, const Ref &R, unsigned Lane) {
  return R.Size ? X.value(R, Lane) : X.bits(R) >> Lane & 1;
}

void JointCollective::set(const Execution &X, const Ref &R, unsigned Lane,
                          uint64_t V) {
  if (R.Size)
    return X.setValue(R, Lane, V);
  uint32_t &Bits = X.bits(R);
  Bits = (Bits & ~(1u << Lane)) | uint32_t(V & 1) << Lane;
}

/// Whether two instructions are the same but for their operands.
static bool areAlike(const Instruction &A, const Instruction &B) {
  return A.Run == B.Run && A.Aux == B.Aux &&
         std::ranges::equal(A.Op, B.Op, [](const Ref &P, const Ref &Q) {
           return P.IsValid == Q.IsValid && P.Size == Q.Size;
         });
}

JointCollective::JointCollective(Execution &Last, const Instruction &Like)
    : X(Last), I(Like) {
  uint32_t Present = 0;
  for (Fragment *Other : Last.W->Fragments) {
    const Instruction &At = Other->Top->Fn->Code[Other->Pc];
    if (Other->Is != Fragment::State::Collective || !areAlike(At, Like))
      continue;
    Part &New = Parts.emplace_back(Part{Execution(Last.D), &At});
    New.X.bind(Other);
    readMasks(New.X, At.Op[4], Other->Lanes, Of);
    Present |= Other->Lanes;
  }
  Lanes = complete(Of, Present, Present, Last.W->Live);
  if (Lanes)
    gather();
}

void JointCollective::gather() {
  X.Bases[size_t(Rows::Frame)] = reinterpret_cast<uint8_t *>(Values.data());
  X.Mask = Lanes;
  for (unsigned N = 0; N < NumOperands; ++N) {
    for (const Part &P : Parts)
      if (const Ref &R = operand(*P.I, N); R.IsValid) {
        Ref &Mine = N < I.Op.size() ? I.Op[N] : More;
        Mine = {uint32_t(N * WarpSize * sizeof(uint64_t)), Rows::Frame, R.Size,
                true};
        forLanes(P.X.F->Lanes & Lanes,
                 [&](unsigned L) { set(X, Mine, L, get(P.X, R, L)); });
      }
  }
  I.More = &More;
  I.NumMore = More.IsValid;
  Before = Values;
}

void JointCollective::release() {
  Execution Old = X;
  Old.Bases[size_t(Rows::Frame)] = reinterpret_cast<uint8_t *>(Before.data());
  std::vector<Fragment *> Free;
  for (const Part &P : Parts) {
    if (!(P.X.F->Lanes & Lanes))
      continue;
    // A source may be the register of the result.
    for (unsigned N = 0; N < NumOperands; ++N)
      if (const Ref &R = operand(*P.I, N); R.IsValid && R.In == Rows::Frame)
        forLanes(P.X.F->Lanes & Lanes, [&](unsigned L) {
          const Ref &Mine = operand(I, N);
          if (const uint64_t V = get(X, Mine, L);
              N == 0 || V != get(Old, Mine, L))
            set(P.X, R, L, V);
        });
    if (const uint32_t Rest = P.X.F->Lanes & ~Lanes)
      X.D.setState(*X.D.split(*P.X.F, Rest, P.X.F->Pc),
                   Fragment::State::Collective);
    Free.push_back(P.X.F);
  }
  X.D.releaseTogether(std::move(Free));
}

namespace {

//===----------------------------------------------------------------------===//
// Operations. Op[4] is the mask.
//===----------------------------------------------------------------------===//

enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };

/// Op: d, a, b, c, mask; More[0]: p.
Outcome shflOp(Execution &X, const Instruction &I) {
  return collectively(
      X, I, I.Op[4], [](Execution &X, const Instruction &I, const Masks &Of) {
        uint32_t From[WarpSize], To[WarpSize], Valid = 0;
        std::memcpy(From, X.row<uint32_t>(I.Op[1]), sizeof From);
        const uint32_t *B = X.row<uint32_t>(I.Op[2]),
                       *C = X.row<uint32_t>(I.Op[3]);
        forLanes(X.Mask, [&](unsigned L) {
          int Lane = int(L), By = B[L] & 31, Clamp = C[L] & 31,
              Segment = C[L] >> 8 & 31;
          int Last = (Lane & Segment) | (Clamp & ~Segment),
              First = Lane & Segment, J = Lane;
          bool Is = false;
          switch (Shuffle(I.Aux)) {
          case Shuffle::Up:
            J = Lane - By;
            Is = J >= Last;
            break;
          case Shuffle::Down:
            J = Lane + By;
            Is = J <= Last;
            break;
          case Shuffle::Butterfly:
            J = Lane ^ By;
            Is = J <= Last;
            break;
          case Shuffle::Index:
            J = First | (By & ~Segment);
            Is = J <= Last;
            break;
          }
          if (!Is || J < 0 || J > 31)
            J = Lane;
          Valid |= uint32_t(Is) << L;
          // What a lane that takes no part would give is not defined: one's
          // own.
          To[L] = X.Mask >> J & 1 ? From[J] : From[L];
        });
        uint32_t *D = X.row<uint32_t>(I.Op[0]);
        forLanes(X.Mask, [&](unsigned L) { D[L] = To[L]; });
        if (I.NumMore)
          X.setBits(I.More[0], Valid);
      });
}

bool shfl(Decoder &D) {
  if (!D.take("sync"))
    return false;
  static constexpr std::string_view Names[] = {"up", "down", "bfly", "idx"};
  std::string_view How = D.takeOneOf({"up", "down", "bfly", "idx"});
  if (How.empty() || D.takeType() != ScalarType::B32)
    return false;
  const Operand &To = D.operand(0);
  bool IsPair = To.What == Operand::Kind::Pair;
  Ref A = D.source(1, 4), B = D.source(2, 4), C = D.source(3, 4),
      Mask = D.source(4, 4);
  Ref R = D.dest(IsPair ? To.Elements[0] : To, 4);
  std::vector<Ref> More;
  if (IsPair)
    More.push_back(D.destPredicate(To.Elements[1]));
  Instruction &I = D.emit(shflOp, {R, A, B, C, Mask});
  I.Aux = uint64_t(std::find(std::begin(Names), std::end(Names), How) -
                   std::begin(Names));
  I.NeedsWholeFragment = true;
  if (IsPair)
    D.setMore(I, More);
  return true;
}

enum class Vote : uint8_t { All, Any, Uni, Ballot };

/// Op: result, predicate, -, -, mask.
Outcome voteOp(Execution &X, const Instruction &I) {
  return collectively(X, I, I.Op[4],
                      [](Execution &X, const Instruction &I, const Masks &Of) {
                        uint32_t P = X.bits(I.Op[1]) & X.Mask, Result = 0;
                        forLanes(X.Mask, [&](unsigned L) {
                          uint32_t Group = Of[L] & X.Mask, Yes = P & Group;
                          bool Is = false;
                          switch (Vote(I.Aux)) {
                          case Vote::All:
                            Is = Yes == Group;
                            break;
                          case Vote::Any:
                            Is = Yes != 0;
                            break;
                          case Vote::Uni:
                            Is = Yes == Group || !Yes;
                            break;
                          case Vote::Ballot:
                            X.setValue(I.Op[0], L, Yes);
                            break;
                          }
                          Result |= uint32_t(Is) << L;
                        });
                        if (Vote(I.Aux) != Vote::Ballot)
                          X.setBits(I.Op[0], Result);
                      });
}

bool vote(Decoder &D) {
  if (!D.take("sync"))
    return false;
  std::string_view How = D.takeOneOf({"all", "any", "uni", "ballot"});
  bool IsBallot = How == "ballot";
  ScalarType T = D.takeType();
  if (How.empty() || T != (IsBallot ? ScalarType::B32 : ScalarType::Pred))
    return false;
  Ref P = D.predicate(D.operand(1)), Mask = D.source(2, 4);
  Ref To = IsBallot ? D.dest(0, 4) : D.destPredicate(D.operand(0));
  Instruction &I = D.emit(voteOp, {To, P, Ref(), Ref(), Mask});
  I.Aux = uint64_t(How == "all"   ? Vote::All
                   : How == "any" ? Vote::Any
                   : How == "uni" ? Vote::Uni
                                  : Vote::Ballot);
  I.NeedsWholeFragment = true;
  return true;
}

/// Op: d, a, -, -, mask; More[0]: p. Aux: all.
Outcome matchOp(Execution &X, const Instruction &I) {
  return collectively(
      X, I, I.Op[4], [](Execution &X, const Instruction &I, const Masks &Of) {
        uint64_t Values[WarpSize];
        uint32_t Results[WarpSize], AllSame = 0;
        forLanes(X.Mask, [&](unsigned L) { Values[L] = X.value(I.Op[1], L); });
        forLanes(X.Mask, [&](unsigned L) {
          uint32_t Group = Of[L] & X.Mask, Same = 0;
          forLanes(Group, [&](unsigned M) {
            Same |= uint32_t(Values[M] == Values[L]) << M;
          });
          bool Is = Same == Group;
          Results[L] = I.Aux ? (Is ? Group : 0) : Same;
          AllSame |= uint32_t(Is) << L;
        });
        forLanes(X.Mask,
                 [&](unsigned L) { X.setValue(I.Op[0], L, Results[L]); });
        if (I.NumMore)
          X.setBits(I.More[0], AllSame);
      });
}

bool match(Decoder &D) {
  std::string_view How = D.takeOneOf({"any", "all"});
  if (How.empty() || !D.take("sync"))
    return false;
  unsigned Size = crsan::ptx::sizeOf(D.takeType());
  if (Size != 4 && Size != 8)
    return false;
  const Operand &To = D.operand(0);
  bool IsPair = To.What == Operand::Kind::Pair;
  Ref A = D.source(1, Size), Mask = D.source(2, 4),
      R = D.dest(IsPair ? To.Elements[0] : To, 4);
  std::vector<Ref> More;
  if (IsPair)
    More.push_back(D.destPredicate(To.Elements[1]));
  Instruction &I = D.emit(matchOp, {R, A, Ref(), Ref(), Mask});
  I.Aux = How == "all";
  I.NeedsWholeFragment = true;
  if (IsPair)
    D.setMore(I, More);
  return true;
}

enum class Reduce : uint8_t { Add, Min, Max, And, Or, Xor };

uint32_t reduceTwo(Reduce R, ScalarType T, uint32_t A, uint32_t B, bool Abs,
                   bool NaN) {
  if (T == ScalarType::F32) {
    float P = std::bit_cast<float>(A), Q = std::bit_cast<float>(B);
    if (Abs) {
      P = std::bit_cast<float>(A & 0x7FFF'FFFF);
      Q = std::bit_cast<float>(B & 0x7FFF'FFFF);
    }
    if (P != P || Q != Q)
      return NaN || (P != P && Q != Q)
                 ? 0x7FFF'FFFF
                 : std::bit_cast<uint32_t>(P != P ? Q : P);
    return std::bit_cast<uint32_t>(R == Reduce::Min ? std::min(P, Q)
                                                    : std::max(P, Q));
  }
  bool IsSigned = T == ScalarType::S32;
  switch (R) {
  case Reduce::Add:
    return A + B;
  case Reduce::Min:
    return IsSigned ? uint32_t(std::min(int32_t(A), int32_t(B)))
                    : std::min(A, B);
  case Reduce::Max:
    return IsSigned ? uint32_t(std::max(int32_t(A), int32_t(B)))
                    : std::max(A, B);
  case Reduce::And:
    return A & B;
  case Reduce::Or:
    return A | B;
  case Reduce::Xor:
    return A ^ B;
  }
  return A;
}

/// Aux: Reduce, type, abs, NaN.
Outcome reduxOp(Execution &X, const Instruction &I) {
  return collectively(
      X, I, I.Op[4], [](Execution &X, const Instruction &I, const Masks &Of) {
        uint32_t Results[WarpSize];
        const uint32_t *A = X.row<uint32_t>(I.Op[1]);
        forLanes(X.Mask, [&](unsigned L) {
          uint32_t Group = Of[L] & X.Mask, First = std::countr_zero(Group);
          Results[L] = A[First];
          forLanes(Group & (Group - 1), [&](unsigned M) {
            Results[L] =
                reduceTwo(Reduce(I.Aux & 0xFF), ScalarType(I.Aux >> 8 & 0xFF),
                          Results[L], A[M], I.Aux >> 16 & 1, I.Aux >> 17 & 1);
          });
        });
        forLanes(X.Mask,
                 [&](unsigned L) { X.setValue(I.Op[0], L, Results[L]); });
      });
}

bool redux(Decoder &D) {
  static constexpr std::string_view Names[] = {"add", "min", "max",
                                               "and", "or",  "xor"};
  if (!D.take("sync"))
    return false;
  std::string_view How = D.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  bool Abs = D.take("abs"), NaN = D.take("NaN");
  ScalarType T = D.takeType();
  bool IsFloat = T == ScalarType::F32;
  if (How.empty() || crsan::ptx::sizeOf(T) != 4 ||
      (IsFloat && How != "min" && How != "max"))
    return false;
  Ref A = D.source(1, 4), Mask = D.source(2, 4);
  Instruction &I = D.emit(reduxOp, {D.dest(0, 4), A, Ref(), Ref(), Mask});
  I.Aux = uint64_t(std::find(std::begin(Names), std::end(Names), How) -
                   std::begin(Names)) |
          uint64_t(T) << 8 | uint64_t(Abs) << 16 | uint64_t(NaN) << 17;
  I.NeedsWholeFragment = true;
  return true;
}

/// Op: d, p, -, -, mask.
Outcome electOp(Execution &X, const Instruction &I) {
  return collectively(X, I, I.Op[4],
                      [](Execution &X, const Instruction &I, const Masks &Of) {
                        uint32_t Is = 0;
                        forLanes(X.Mask, [&](unsigned L) {
                          uint32_t Leader = std::countr_zero(Of[L] & X.Mask);
                          X.setValue(I.Op[0], L, Leader);
                          Is |= uint32_t(Leader == L) << L;
                        });
                        X.setBits(I.Op[1], Is);
                      });
}

bool elect(Decoder &D) {
  const Operand &To = D.operand(0);
  if (!D.take("sync") || To.What != Operand::Kind::Pair)
    return false;
  Ref Mask = D.source(1, 4);
  Instruction &I =
      D.emit(electOp, {D.dest(To.Elements[0], 4),
                       D.destPredicate(To.Elements[1]), Ref(), Ref(), Mask});
  I.NeedsWholeFragment = true;
  return true;
}

//===----------------------------------------------------------------------===//
// bar.warp.sync
//===----------------------------------------------------------------------===//

/// Tells of a barrier once it is complete: all of the program's lanes have
/// arrived, then all leave. A lane that meets others for a check does not wait
/// for the program, and is none of `OfProgram`.
void tellWarpBarrier(Execution &X, uint32_t Lanes, uint32_t OfProgram,
                     const Masks &Of) {
  if (!X.D.Watch)
    return;
  while (Lanes) {
    const uint32_t Group = Of[std::countr_zero(Lanes)] & Lanes;
    const uint64_t Id = X.D.NextBarrierUid++;
    forLanes(Group & OfProgram, [&](unsigned L) {
      X.D.Watch->barrierArrive(X.thread(L), Id, BarrierKind::Warp);
    });
    forLanes(Group & OfProgram, [&](unsigned L) {
      X.D.Watch->barrierLeave(X.thread(L), Id, BarrierKind::Warp);
    });
    Lanes &= ~Group;
  }
}

Outcome barWarpOp(Execution &X, const Instruction &I) {
  Masks Of;
  readMasks(X, I.Op[0], X.Mask, Of);
  if (!checkMasks(X, I, Of))
    return Outcome::Faulted;
  if (complete(Of, X.Mask, X.Mask, X.W->Live) == X.F->Lanes) {
    tellWarpBarrier(X, X.Mask, I.IsHidden ? 0 : X.Mask, Of);
    return Outcome::Next;
  }
  // With those who wait already, wherever they are.
  std::vector<Fragment *> All{X.F};
  uint32_t Present = X.F->Lanes, OfProgram = I.IsHidden ? 0 : X.F->Lanes;
  for (Fragment *Other : X.W->Fragments)
    if (Other != X.F && Other->Is == Fragment::State::WarpBarrier) {
      const Instruction &At = Other->Top->Fn->Code[Other->Pc];
      Execution Y(X.D);
      Y.bind(Other);
      readMasks(Y, At.Op[0], Other->Lanes, Of);
      All.push_back(Other);
      Present |= Other->Lanes;
      OfProgram |= At.IsHidden ? 0 : Other->Lanes;
    }
  uint32_t Done = complete(Of, Present, Present, X.W->Live);
  X.D.setState(*X.F, Fragment::State::WarpBarrier);
  if (!Done)
    return Outcome::Stop;
  tellWarpBarrier(X, Done, OfProgram, Of);
  std::vector<Fragment *> Free;
  for (Fragment *F : All) {
    if (!(F->Lanes & Done))
      continue;
    if (uint32_t Rest = F->Lanes & ~Done)
      X.D.setState(*X.D.split(*F, Rest, F->Pc), Fragment::State::WarpBarrier);
    Free.push_back(F);
  }
  X.D.releaseTogether(std::move(Free));
  return Outcome::Stop;
}

bool barWarp(Decoder &D) {
  if (!D.take("warp") || !D.take("sync"))
    return false;
  Ref Mask = D.source(0, 4);
  D.emit(barWarpOp, {Mask}).NeedsWholeFragment = true;
  return true;
}

} // namespace

/// They look again at whom they wait for.
void Device::recheckCollectives(Warp &W) {
  for (size_t N = 0; N < W.Fragments.size(); ++N)
    if (Fragment *F = W.Fragments[N]; F->Is == Fragment::State::Collective ||
                                      F->Is == Fragment::State::WarpBarrier)
      setState(*F, Fragment::State::Ready);
}

void crsan::sim::addCollectiveOps(DecodeTable &T) {
  T.add("shfl", shfl);
  T.add("vote", vote);
  T.add("match", match);
  T.add("redux", redux);
  T.add("elect", elect);
  T.add("bar", barWarp);
}
