// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where threads access an array.

#include "Proofs/Spread.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace crsan {

bool Spread::allOfCommon(function_ref<bool(const Value *)> Each) const {
  return all_of(Base, [&](const Common &C) { return !C.Of || Each(C.Of); });
}

/// Makes one of two counters where a step of the one is within the reach of the
/// other.
void Spread::joinCounters() {
  auto Join = [&](Counter &A, const Counter &B) {
    if (!B.Number || !A.Step.isLike(B.Step) || A.Step.Scale <= 0 ||
        B.Step.Scale % A.Step.Scale || B.Step.Scale < 0)
      return false;
    const uint64_t Steps = B.Step.Scale / A.Step.Scale;
    if (Steps > 1 && (!A.Number || *A.Number <= Steps))
      return false;
    if (A.Number)
      *A.Number += (*B.Number - 1) * Steps;
    else
      A.Beyond += *B.Number - 1;
    for (const PHINode *P : {A.Of, B.Of})
      if (P)
        erase_if(Caps,
                 [&](const Cap &C) { return !is_contained(C.Counters, P); });
    A.Of = nullptr;
    return true;
  };
  for (unsigned A = 0; A < Counters.size(); ++A)
    for (unsigned B = 0; B < Counters.size(); ++B)
      if (A != B && Join(Counters[A], Counters[B])) {
        Counters.erase(&Counters[B]);
        A = ~0u;
        break;
      }
}

/// What moves an access: an index, a counter, or one of a piece's two parts.
struct Spread::Mover {
  ArrayRef<Term> Step;
  unsigned Place; ///< Among equals, the smallest first.
  std::function<Value *(IRBuilder<> &)> Last;
  /// An upper bound of Last for all launches, if there is one.
  std::optional<uint64_t> Most;
  std::optional<unsigned> Index = std::nullopt;
  const Counter *Count = nullptr;

  /// Steps that are known only at run time are ranked by what programs usually
  /// do; the order is a guess, which the emitted condition tests.
  auto rank() const {
    std::pair<unsigned, int64_t> Largest = {0, 0};
    for (const Term &T : Step) {
      // A product of extents is larger than a constant, as a row is longer
      // than its block is wide.
      const bool IsOfLaunch = all_of(
          T.Factors, [](const Value *V) { return extentOf(V).has_value(); });
      const unsigned Kind = T.Factors.empty() ? 0
                            : IsOfLaunch      ? T.Factors.size()
                                              : MostFactors + T.Factors.size();
      Largest = std::max(Largest, {Kind, std::abs(T.Scale)});
    }
    return std::tuple(!Last, Largest, Place);
  }
};

/// Emits the largest value of an index, as 64 bits.
Value *Spread::emitLast(IRBuilder<> &B, unsigned Index) const {
  Value *Last = B.CreateSub(emitExtent(B, Index), B.getInt64(1));
  return Ends[Index] ? B.CreateBinaryIntrinsic(Intrinsic::umin, Last,
                                               B.getInt64(*Ends[Index] - 1))
                     : Last;
}

/// By the smallest step first. A sum without an end is the last one.
SmallVector<Spread::Mover, NumIndices> Spread::movers() const {
  // Among equals x comes before y, and a thread before its block.
  constexpr unsigned Usual[] = {0, 2, 4, 1, 3, 5};
  SmallVector<Mover, NumIndices> All;
  for (unsigned Index = 0; Index < NumIndices; ++Index)
    if (!Fixed[Index] &&
        (Among == ThreadGroup::Grid || Index < NumThreadIndices) &&
        none_of(Pieces, [&](const Piece &P) {
          return !P.Whole[0].Strides[Index].empty();
        }))
      All.push_back({Strides[Index], Usual[Index],
                     [this, Index](auto &B) { return emitLast(B, Index); },
                     std::min<uint64_t>(LaunchIndices[Index].Most,
                                        Ends[Index].value_or(INT64_MAX)) -
                         1,
                     Index});
  for (const Counter &C : Counters) {
    Mover &M = All.emplace_back(
        Mover{C.Step, NumIndices, nullptr, std::nullopt, std::nullopt, &C});
    if (C.Number) {
      M.Last = [&C](auto &B) { return B.getInt64(*C.Number - 1); };
      M.Most = *C.Number - 1;
    } else if (C.Last)
      M.Last = [&C](auto &B) {
        return B.CreateAdd(
            B.CreateZExt(emitAvailable(B, *C.Last), B.getInt64Ty()),
            B.getInt64(C.Beyond));
      };
  }
  for (const Piece &P : Pieces) {
    auto Whole = [this, &P](auto &B) {
      Spread X = P.Whole[0];
      X.Ends = Ends;
      X.Size = 0;
      return X.emitMost(B);
    };
    std::optional<uint64_t> Most = P.Whole[0].most();
    All.push_back({P.Quotient, 1,
                   [Whole, &P](auto &B) {
                     return B.CreateUDiv(Whole(B), B.getInt64(P.By));
                   },
                   Most ? std::optional(*Most / P.By) : std::nullopt});
    if (!P.FixedRemainder)
      All.push_back({P.Remainder, 0,
                     [Whole, &P](auto &B) {
                       return B.CreateBinaryIntrinsic(Intrinsic::umin, Whole(B),
                                                      B.getInt64(P.By - 1));
                     },
                     uint64_t(P.By - 1)});
  }
  llvm::sort(
      All, [](const Mover &A, const Mover &B) { return A.rank() < B.rank(); });
  return All;
}

/// A factor of a term, as 64 bits.
static Value *emitFactor(IRBuilder<> &B, const Value *V, bool IsSigned) {
  return B.CreateIntCast(emitAvailable(B, V), B.getInt64Ty(), IsSigned);
}

namespace {

/// Amounts of 64 bits, of which those above 2^31 may become 2^31.
class Amounts {
public:
  struct Amount {
    Value *V;
    uint64_t Most; ///< No amount is larger.
  };
  explicit Amounts(IRBuilder<> &B) : B(B) {}

  Amount constant(uint64_t Number) const {
    Number = std::min<uint64_t>(Number, MostBytes);
    return {B.getInt64(Number), Number};
  }
  /// Of a factor of a term.
  Amount factor(const Value *V, bool IsSigned) const {
    Value *Whole = emitFactor(B, V, IsSigned);
    if (const auto Extent = extentOf(V))
      return {Whole, LaunchIndices[*Extent].Most};
    const unsigned Bits = V->getType()->getScalarSizeInBits();
    if (!IsSigned && Bits < 64)
      return {Whole, maxUIntN(Bits)};
    return {B.CreateBinaryIntrinsic(Intrinsic::abs, Whole, B.getFalse()),
            Bits < 64 ? uint64_t(1) << (Bits - 1) : ~uint64_t(0)};
  }
  Amount product(const Amount &X, const Amount &Y) const {
    const Amount A = clamp(X), O = clamp(Y);
    return clamp({B.CreateMul(A.V, O.V), A.Most * O.Most});
  }

private:
  Amount clamp(const Amount &A) const {
    if (A.Most <= uint64_t(MostBytes))
      return A;
    return {
        B.CreateBinaryIntrinsic(Intrinsic::umin, A.V, B.getInt64(MostBytes)),
        uint64_t(MostBytes)};
  }

  IRBuilder<> &B;
};

} // namespace

/// Emits an upper bound of the sum's amount, or something larger than 2^31.
Value *Spread::emitMost(IRBuilder<> &B) const {
  const Amounts Of(B);
  Value *All = B.getInt64(std::abs(Constant) + Size);
  auto Add = [&](const Term &T, std::optional<Amounts::Amount> Last) {
    Amounts::Amount Product = Of.constant(std::abs(T.Scale));
    for (const Value *V : T.Factors)
      Product = Of.product(Product, Of.factor(V, T.IsSigned));
    if (Last)
      Product = Of.product(Product, *Last);
    All = B.CreateAdd(All, Product.V);
  };
  for (const Common &C : Base)
    Add(C, std::nullopt);
  for (const Mover &M : movers())
    for (const Term &T : M.Step)
      Add(T, Amounts::Amount{M.Last(B), M.Most.value_or(~uint64_t(0))});
  return All;
}

/// Emits whether no sum is too large.
Value *Spread::emitAreBounded(IRBuilder<> &B) const {
  Value *Are = B.getTrue();
  for (const Spread &S : Bounded)
    Are =
        B.CreateAnd(Are, B.CreateICmpULT(S.emitMost(B), B.getInt64(MostBytes)));
  return Are;
}

Value *Ending::emit(IRBuilder<> &B) const {
  return B.CreateAnd(Of.emitAreBounded(B),
                     B.CreateICmpULE(Of.emitMost(B), B.getInt64(Within)));
}

Value *Spread::emitAreApart(IRBuilder<> &B) const {
  Spread Joined = *this;
  Joined.joinCounters();
  return Joined.emitAreApart(B, true);
}

Value *Spread::emitAreApart(IRBuilder<> &B, bool AreAllThreads) const {
  Value *AreApart = B.getTrue(), *Reach = B.getInt64(Size);
  auto Require = [&](Value *V) { AreApart = B.CreateAnd(AreApart, V); };
  auto Product = [&](const Term &T) {
    Value *All = B.getInt64(T.Scale);
    for (const Value *V : T.Factors)
      All = B.CreateMul(All, emitFactor(B, V, T.IsSigned));
    return All;
  };
  Value *Most = B.getInt64(MostBytes);
  Require(emitAreBounded(B));
  for (const Piece &P : Pieces) {
    Require(P.Whole[0].emitAreApart(B, false));
    for (const Term &T : P.Multiples)
      Require(B.CreateICmpEQ(B.CreateURem(Product(T), B.getInt64(P.By)),
                             B.getInt64(0)));
  }
  SmallVector<const Cap *, 1> Open;
  for (const Cap &C : Caps)
    Open.push_back(&C);
  for (const Mover &M : movers()) {
    if (M.Step.empty()) {
      // Threads that differ in nothing else access one location.
      if (AreAllThreads)
        Require(B.CreateICmpEQ(M.Last(B), B.getInt64(0)));
      continue;
    }
    // Nothing is known of steps that are larger than a sum without an end.
    if (!Reach)
      return B.getFalse();
    Value *Last = M.Last ? M.Last(B) : nullptr;
    Value *Stride = B.getInt64(0);
    for (const Term &T : M.Step)
      Stride = B.CreateAdd(Stride, Product(T));
    // The direction of a step does not matter, but only a constant is known to
    // be negative.
    if (M.Step.size() == 1 && M.Step[0].Factors.empty())
      Stride = B.getInt64(std::abs(M.Step[0].Scale));
    Value *IsApart = B.CreateAnd(B.CreateICmpSGE(Stride, Reach),
                                 B.CreateICmpSLT(Stride, Most));
    if (Last) {
      if (!M.Most || *M.Most >= uint64_t(MostBytes))
        Require(B.CreateICmpULT(Last, Most));
      IsApart = B.CreateOr(IsApart, B.CreateICmpEQ(Last, B.getInt64(0)));
    }
    Require(IsApart);
    Reach = Last ? B.CreateAdd(Reach, B.CreateMul(Stride, Last)) : nullptr;
    // All that has moved the access so far may be bounded together.
    erase_if(Open, [&](const Cap *C) {
      return !(M.Index ? C->Indices[*M.Index]
                       : M.Count && (!M.Count->Of ||
                                     is_contained(C->Counters, M.Count->Of)));
    });
    for (const Cap *C : Open) {
      // Where the steps are negative, none of them is made.
      Value *Most = B.CreateBinaryIntrinsic(Intrinsic::smax, Product(C->Most),
                                            B.getInt64(0));
      Value *End = B.CreateAdd(Most, B.getInt64(Size));
      Reach =
          Reach ? B.CreateBinaryIntrinsic(Intrinsic::smin, Reach, End) : End;
    }
  }
  return AreApart;
}

/// Tries bounds of the first extent alone, the largest first.
std::optional<BlockBounds> Spread::apart() const {
  if (Among != ThreadGroup::Block)
    return std::nullopt;
  // In a tiny block, threads are apart that race in usual ones.
  constexpr uint64_t Least = 16;
  for (uint64_t Number = LaunchIndices[0].Most; Number >= Least; Number /= 2) {
    Spread Joined = *this;
    Joined.joinCounters();
    Joined.Ends[0] = std::min(Ends[0].value_or(Number), int64_t(Number));
    for (Piece &P : Joined.Pieces)
      P.Whole[0].Ends = Joined.Ends;
    BlockBounds In = {Number, AnyBlock[1], AnyBlock[2]};
    if (Joined.areApart(In, true))
      return In;
  }
  return std::nullopt;
}

/// As emitAreApart(), for all launches with blocks of at most the extents `In`,
/// which it lowers.
bool Spread::areApart(BlockBounds &In, bool AreAllThreads) const {
  if (!Bounded.empty() || any_of(Pieces, [&](const Piece &P) {
        return !P.Multiples.empty() || !P.Whole[0].areApart(In, false);
      }))
    return false;
  std::optional<uint64_t> Reach = Size;
  for (const Mover &M : movers()) {
    if (M.Step.empty()) {
      if (AreAllThreads) {
        if (!M.Index)
          return false;
        In[*M.Index] = 1;
      }
      continue;
    }
    if (!Reach || M.Step.size() > 1 || !M.Step[0].Factors.empty() ||
        uint64_t(std::abs(M.Step[0].Scale)) < *Reach)
      return false;
    if (!M.Most || *M.Most >= uint64_t(MostBytes))
      Reach.reset();
    else
      *Reach += std::abs(M.Step[0].Scale) * *M.Most;
  }
  return true;
}

Value *Requirement::emit(IRBuilder<> &B) const {
  Value *Holds = B.getTrue();
  for (const Spread &S : Apart)
    Holds = B.CreateAnd(Holds, S.emitAreApart(B));
  for (const Ending &E : Endings)
    Holds = B.CreateAnd(Holds, E.emit(B));
  for (unsigned Index = 0; Index < Most.size(); ++Index)
    if (Most[Index] < LaunchIndices[Index].Most)
      Holds = B.CreateAnd(
          Holds,
          B.CreateICmpULE(B.CreateIntrinsic(B.getInt32Ty(),
                                            LaunchIndices[Index].Extent, {}),
                          B.getInt32(uint32_t(Most[Index]))));
  return Holds;
}

} // namespace crsan
