// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where threads access an array.

#include "Proofs/Spread.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace llvm;

namespace crsan {

bool Spread::allOfCommon(function_ref<bool(const Value *)> Each) const {
  return all_of(Base, [&](const Common &C) { return !C.Of || Each(C.Of); });
}

/// This spread contains `Lower` and, at the distance of `D` above, `Upper`:
/// keeps what bounds both.
void Spread::keepCaps(const Spread &Lower, const Spread &Upper, const Term &D) {
  for (const Cap &L : Lower.Caps)
    for (const Cap &U : Upper.Caps) {
      if (L.Indices != U.Indices || !L.Most.isLike(U.Most) ||
          (D.Scale && !L.Most.isLike(D)))
        continue;
      // What one of the two has beyond its cap moves neither.
      auto IsWithin = [&](const Spread &S, const Cap &Mine) {
        return all_of(S.Counters, [&](const Counter &C) {
          return !C.Of || is_contained(Mine.Counters, C.Of) ||
                 !(is_contained(L.Counters, C.Of) ||
                   is_contained(U.Counters, C.Of));
        });
      };
      if (!IsWithin(Lower, L) || !IsWithin(Upper, U))
        continue;
      Cap Both = L;
      Both.Most.Scale = std::max(L.Most.Scale, U.Most.Scale + D.Scale);
      for (const PHINode *P : U.Counters)
        if (!is_contained(Both.Counters, P))
          Both.Counters.push_back(P);
      if (!is_contained(Caps, Both))
        Caps.push_back(std::move(Both));
    }
}

/// This spread has the base of `Lower` and the counters of both: makes it
/// contain both, where the base of `Upper` is at the distance `D`.
bool Spread::countDistance(Term D, const Spread &Lower, const Spread &Upper) {
  auto In = [&](const Spread &S, const Counter &C) {
    std::optional<Counter> Found;
    for (const Counter &Other : S.Counters)
      if (Other.isLike(C)) {
        // Of several, it is not known which.
        if (Found || !Other.Number)
          return C;
        Found = Other;
      }
    return Found.value_or(Counter{C.Step, nullptr, 1, nullptr});
  };
  D.Scale = std::abs(D.Scale);
  for (Counter &C : Counters) {
    if (!C.Step.isLike(D))
      continue;
    if (!C.Number && !C.Last && D.Scale % C.Step.Scale == 0)
      // A sum without an end comes there, too.
      return true;
    if (!C.Number || C.Step.Scale < 0)
      continue;
    if (D.Scale % C.Step.Scale == 0) {
      const uint64_t Steps = D.Scale / C.Step.Scale;
      const Counter L = In(Lower, C), U = In(Upper, C);
      C.Number = std::max(*L.Number, *U.Number + Steps);
      C.Beyond = std::max(L.Beyond, U.Beyond + Steps);
      return true;
    }
    if (!C.Of && C.Step.Scale % D.Scale == 0) {
      const uint64_t Steps = C.Step.Scale / D.Scale;
      C.Number = (*C.Number - 1) * Steps + 2;
      C.Step.Scale = D.Scale;
      C.Last = nullptr;
      return true;
    }
  }
  // Where the next thread is, too, or all threads are, none is apart.
  auto IsSame = [&](const Sum &Step) {
    return Step.size() == 1 && Step[0].isLike(D) &&
           std::abs(Step[0].Scale) == D.Scale;
  };
  if (Pieces.empty() &&
      (any_of(Strides, IsSame) ||
       all_of(Strides, [](const Sum &Step) { return Step.empty(); })))
    return false;
  return count({std::move(D), nullptr, 2, nullptr});
}

std::optional<Spread> Spread::hull(const Spread &Other) const {
  if (Fixed != Other.Fixed || Strides != Other.Strides ||
      Pieces != Other.Pieces)
    return std::nullopt;
  Spread Both = *this;
  for (unsigned Index = 0; Index < NumIndices; ++Index)
    if (Ends[Index] && Other.Ends[Index])
      Both.Ends[Index] = std::max(*Ends[Index], *Other.Ends[Index]);
    else
      Both.Ends[Index].reset();
  Both.Begins = {};
  Both.Limits.clear();
  Both.Caps.clear();
  Both.require(Other.Bounded);
  SmallBitVector Met(Counters.size());
  for (const Counter &C : Other.Counters) {
    // Of two alike, each stands for another one.
    auto *Mine = Both.Counters.begin();
    const auto *End = Mine + Counters.size();
    while (Mine != End && (!(Mine->isLike(C) || Mine->isAsLong(C)) ||
                           Met[Mine - Both.Counters.begin()]))
      ++Mine;
    if (Mine == End) {
      // One of the two may be moved by it, and the other by another step.
      if (!Both.countBeside(C))
        return std::nullopt;
      continue;
    }
    Met.set(Mine - Both.Counters.begin());
    if (Mine->Of != C.Of) {
      Mine->Of = nullptr;
      Mine->Number.reset();
    } else if (Mine->Number && C.Number)
      Mine->Number = std::max(*Mine->Number, *C.Number);
    else
      Mine->Number.reset();
    if (Mine->Last != C.Last)
      Mine->Last = nullptr;
    Mine->Beyond = std::max(Mine->Beyond, C.Beyond);
  }
  // How far apart the two are: by one term, or not at all.
  Spread Distance(Among);
  Distance.Base = Base;
  for (Common C : Other.Base) {
    C.Scale = -C.Scale;
    Distance.addCommon(std::move(C));
  }
  const int64_t Least = std::min(Constant, Other.Constant);
  if (!Distance.Base.empty()) {
    const Common &D = Distance.Base[0];
    if (Distance.Base.size() > 1 || D.Of || Constant != Other.Constant ||
        Size != Other.Size)
      return std::nullopt;
    const bool IsAbove = D.Scale < 0;
    if (!IsAbove)
      Both.Base = Other.Base;
    const Spread &Lower = IsAbove ? *this : Other;
    const Spread &Upper = IsAbove ? Other : *this;
    if (!Both.countDistance(D, Lower, Upper))
      return std::nullopt;
    Both.keepCaps(Lower, Upper, {std::abs(D.Scale), D.Factors, D.IsSigned});
    return Both;
  }
  // Within the smallest step, what is accessed becomes larger.
  const int64_t End =
      std::max(Constant + int64_t(Size), Other.Constant + int64_t(Other.Size));
  int64_t Step = MostBytes;
  for (const Sum &S : Both.Strides)
    if (S.size() == 1 && S[0].Factors.empty())
      Step = std::min(Step, std::abs(S[0].Scale));
  for (const Counter &C : Both.Counters)
    if (C.Step.Factors.empty())
      Step = std::min(Step, std::abs(C.Step.Scale));
  for (const Piece &P : Pieces)
    for (const Sum &S : {P.Quotient, P.Remainder})
      if (S.size() == 1 && S[0].Factors.empty())
        Step = std::min(Step, std::abs(S[0].Scale));
  Both.Constant = Least;
  const Spread &Lower = Constant < Other.Constant ? *this : Other;
  const Spread &Upper = &Lower == this ? Other : *this;
  Term D = {Upper.Constant - Lower.Constant, {}, true};
  if (End - Least <= Step) {
    Both.Size = End - Least;
    Both.keepCaps(Lower, Upper, {0, {}, true});
    return Both;
  }
  Both.keepCaps(Lower, Upper, D);
  Both.Size = std::max(Size, Other.Size);
  // Within what is accessed at a multiple of a step.
  for (const Counter &C : Both.Counters)
    if (C.Step.Factors.empty() && C.Step.Scale > 0 &&
        D.Scale % C.Step.Scale + Upper.Size <= Lower.Size) {
      D.Scale -= D.Scale % C.Step.Scale;
      break;
    }
  if (D.Scale && !Both.countDistance(D, Lower, Upper))
    return std::nullopt;
  return Both;
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

/// Emits an upper bound of the sum's amount, or something larger than 2^31.
Value *Spread::emitMost(IRBuilder<> &B) const {
  Value *Limit = B.getInt64(MostBytes);
  auto Clamp = [&](Value *V) {
    return B.CreateBinaryIntrinsic(Intrinsic::umin, V, Limit);
  };
  Value *All = B.getInt64(std::abs(Constant) + Size);
  auto Add = [&](const Term &T, Value *Last) {
    Value *Product = Clamp(B.getInt64(std::abs(T.Scale)));
    for (const Value *V : T.Factors)
      Product = Clamp(B.CreateMul(
          Product,
          Clamp(B.CreateBinaryIntrinsic(
              Intrinsic::abs, emitFactor(B, V, T.IsSigned), B.getFalse()))));
    if (Last)
      Product = Clamp(B.CreateMul(Product, Clamp(Last)));
    All = B.CreateAdd(All, Product);
  };
  for (const Common &C : Base)
    Add(C, nullptr);
  for (const Mover &M : movers())
    for (const Term &T : M.Step)
      Add(T, M.Last(B));
  return All;
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
  for (const Spread &S : Bounded)
    Require(B.CreateICmpULT(S.emitMost(B), Most));
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

std::optional<BlockBounds> Spread::apart() const {
  if (Among != ThreadGroup::Block)
    return std::nullopt;
  Spread Joined = *this;
  Joined.joinCounters();
  BlockBounds In = AnyBlock;
  return Joined.areApart(In, true) ? std::optional(In) : std::nullopt;
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

/// Whether each place of this access is below all places of the other: its only
/// index is less than a value, and the other access is beyond that value.
bool Spread::isLimitedBelow(const Spread &Other) const {
  const Sum *Mine = nullptr;
  unsigned Index = 0;
  for (unsigned N = 0; N < NumThreadIndices; ++N) {
    for (const Term &T : Other.Strides[N])
      if (T.Scale < 0 || !T.Factors.empty())
        return false;
    if (Strides[N].empty())
      continue;
    if (Mine)
      return false;
    Mine = &Strides[N];
    Index = N;
  }
  if (!Mine || Mine->size() != 1 || !(*Mine)[0].Factors.empty())
    return false;
  Spread Distance(Among);
  Distance.Base = Other.Base;
  for (Common C : Base) {
    C.Scale = -C.Scale;
    Distance.addCommon(std::move(C));
  }
  const int64_t Step = (*Mine)[0].Scale;
  if (Distance.Base.size() != 1 || Distance.Base[0].Scale != Step || Step <= 0)
    return false;
  const Common &D = Distance.Base[0];
  const Value *Beyond = D.Of && D.Factors.empty()        ? D.Of
                        : !D.Of && D.Factors.size() == 1 ? D.Factors[0]
                                                         : nullptr;
  return Beyond &&
         any_of(Limits,
                [&](const Limit &L) {
                  return L.Index == Index && L.Below == Beyond &&
                         L.IsSigned == D.IsSigned;
                }) &&
         Constant + int64_t(Size) - Step <= Other.Constant;
}

/// The indices in which one of the two moves, by the largest step first. None:
/// a step is not a positive constant, or differs between the two.
std::optional<SmallVector<Spread::Digit, NumThreadIndices>>
Spread::digits(const Spread &Other) const {
  SmallVector<Digit, NumThreadIndices> Digits;
  for (unsigned Index = 0; Index < NumThreadIndices; ++Index) {
    const auto &A = Strides[Index], &B = Other.Strides[Index];
    for (const auto *Sum : {&A, &B})
      if (Sum->size() > 1 || (Sum->size() == 1 && (!(*Sum)[0].Factors.empty() ||
                                                   (*Sum)[0].Scale <= 0)))
        return std::nullopt;
    if (A.empty() && B.empty())
      continue;
    if (!A.empty() && !B.empty() && A[0].Scale != B[0].Scale)
      return std::nullopt;
    Digits.push_back({A.empty() ? B[0].Scale : A[0].Scale, Index});
  }
  llvm::sort(Digits,
             [](const Digit &A, const Digit &B) { return A.Step > B.Step; });
  return Digits;
}

/// Writes where each of the two accesses as a number whose digits are in units
/// of the steps. Where no digit carries, which bounds the block's extents, the
/// two are apart if one digit surely differs.
std::optional<BlockBounds> Spread::disjoint(const Spread &Other) const {
  if (Among != ThreadGroup::Block || !Counters.empty() ||
      !Other.Counters.empty() || !Bounded.empty() || !Other.Bounded.empty() ||
      !Pieces.empty() || !Other.Pieces.empty())
    return std::nullopt;
  if (isLimitedBelow(Other) || Other.isLimitedBelow(*this))
    return AnyBlock;
  const auto Digits = digits(Other);
  if (Base != Other.Base || !Digits || Digits->empty())
    return std::nullopt;
  BlockBounds Most = AnyBlock;
  // Each index counts from the least that it is.
  struct Side {
    const Spread &Of;
    int64_t Rest;
    bool isMovedBy(unsigned Index) const { return !Of.Strides[Index].empty(); }
  } A = {*this, Constant}, B = {Other, Other.Constant};
  for (Side *S : {&A, &B}) {
    for (const Digit &D : *Digits)
      if (S->isMovedBy(D.Index))
        S->Rest += D.Step * S->Of.Begins[D.Index];
    if (S->Rest < 0)
      return std::nullopt;
  }
  /// The number of values of an index, beginning with the least.
  auto Bound = [&](const Side &S, unsigned Index, int64_t Number) {
    Number = std::max<int64_t>(Number + S.Of.Begins[Index], 0);
    if (!(S.Of.Ends[Index] && *S.Of.Ends[Index] <= Number))
      Most[Index] = std::min(Most[Index], uint64_t(Number));
  };
  /// The digit that differs most of those that differ for small blocks only.
  struct Difference {
    const Side *Lower;
    unsigned Index;
    int64_t Number;
  };
  std::optional<Difference> Least;
  bool AreDisjoint = false;
  int64_t Above = 0;
  for (const Digit &D : *Digits) {
    if (Above % D.Step)
      return std::nullopt;
    const int64_t NumberA = A.Rest / D.Step, NumberB = B.Rest / D.Step;
    A.Rest %= D.Step;
    B.Rest %= D.Step;
    if (Above && A.isMovedBy(D.Index))
      Bound(A, D.Index, Above / D.Step - NumberA);
    if (Above && B.isMovedBy(D.Index))
      Bound(B, D.Index, Above / D.Step - NumberB);
    Above = D.Step;
    if (NumberA == NumberB)
      continue;
    // The lower one has to end before the other begins.
    const Side &Lower = NumberA < NumberB ? A : B;
    const int64_t Number = std::abs(NumberA - NumberB);
    const auto End = Lower.Of.Ends[D.Index];
    if (!Lower.isMovedBy(D.Index) ||
        (End && *End - Lower.Of.Begins[D.Index] <= Number))
      AreDisjoint = true;
    else if (!Least || Least->Number < Number)
      Least = {&Lower, D.Index, Number};
  }
  // What is left is within an element.
  if (A.Rest + int64_t(Size) > Above || B.Rest + int64_t(Other.Size) > Above)
    return std::nullopt;
  if (A.Rest + int64_t(Size) <= B.Rest ||
      B.Rest + int64_t(Other.Size) <= A.Rest)
    AreDisjoint = true;
  if (!AreDisjoint) {
    if (!Least)
      return std::nullopt;
    Bound(*Least->Lower, Least->Index, Least->Number);
  }
  if (is_contained(Most, 0u))
    return std::nullopt;
  return Most;
}

/// The end of all places of this access in such blocks, from its base. None: it
/// is not known.
std::optional<int64_t> Spread::end(const BlockBounds &In) const {
  constexpr uint64_t TooMuch = MostBytes;
  uint64_t End = Size;
  auto Add = [&](const Sum &Step, uint64_t Last) {
    for (const Term &T : Step) {
      if (!T.Factors.empty() || T.Scale < 0 || Last > TooMuch / T.Scale)
        return false;
      End += T.Scale * Last;
    }
    return End < TooMuch;
  };
  for (unsigned Index = 0; Index < NumThreadIndices; ++Index) {
    const uint64_t Number =
        std::min<uint64_t>({In[Index], LaunchIndices[Index].Most,
                            uint64_t(Ends[Index].value_or(MostBytes))});
    if (!Add(Strides[Index], Number - 1))
      return std::nullopt;
  }
  for (const Counter &C : Counters)
    if (!C.Number || !Add({C.Step}, *C.Number - 1))
      return std::nullopt;
  for (const Piece &P : Pieces) {
    Spread X = P.Whole[0];
    X.Ends = Ends;
    const auto EndOfWhole = X.end(In);
    if (!EndOfWhole)
      return std::nullopt;
    const uint64_t Last = *EndOfWhole - X.Size;
    if (!Add(P.Quotient, Last / P.By) ||
        !Add(P.Remainder, std::min<uint64_t>(Last, P.By - 1)))
      return std::nullopt;
  }
  return Constant + int64_t(End);
}

/// Tries bounds of the first extent alone, the largest first.
std::optional<BlockBounds> Spread::endBefore(const Spread &Other) const {
  if (Among != ThreadGroup::Block || Base != Other.Base || !Bounded.empty() ||
      !Other.Bounded.empty())
    return std::nullopt;
  for (uint64_t Number = LaunchIndices[0].Most; Number > 0; Number /= 2) {
    const BlockBounds In = {Number, AnyBlock[1], AnyBlock[2]};
    const auto Mine = end(In), Its = Other.end(In);
    if (Mine && Its && (*Mine <= Other.Constant || *Its <= Constant))
      return In;
  }
  return std::nullopt;
}

Value *Requirement::emit(IRBuilder<> &B) const {
  Value *Holds = B.getTrue();
  for (const Spread &S : Apart)
    Holds = B.CreateAnd(Holds, S.emitAreApart(B));
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
