// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the places of two accesses differ.

#include "Proofs/Spread.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace llvm;

namespace crsan {

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
  // How far apart the two are: by one term, by a constant, or by both.
  Spread Distance(Among);
  Distance.Base = Base;
  for (Common C : Other.Base) {
    C.Scale = -C.Scale;
    Distance.addCommon(std::move(C));
  }
  const int64_t Least = std::min(Constant, Other.Constant);
  const bool AreAlsoApart = Constant != Other.Constant || Size != Other.Size;
  if (!Distance.Base.empty()) {
    const Common &D = Distance.Base[0];
    if (Distance.Base.size() > 1 || D.Of)
      return std::nullopt;
    const bool IsAbove = D.Scale < 0;
    if (!IsAbove)
      Both.Base = Other.Base;
    const Spread &Lower = IsAbove ? *this : Other;
    const Spread &Upper = IsAbove ? Other : *this;
    if (!Both.countDistance(D, Lower, Upper))
      return std::nullopt;
    if (!AreAlsoApart) {
      Both.keepCaps(Lower, Upper, {std::abs(D.Scale), D.Factors, D.IsSigned});
      return Both;
    }
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
  const bool IsWithin = End - Least <= Step;
  if (Distance.Base.empty())
    Both.keepCaps(Lower, Upper, {IsWithin ? 0 : D.Scale, {}, true});
  if (IsWithin) {
    Both.Size = End - Least;
    return Both;
  }
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

/// From the base, the lower one has to end within the distance of the two.
std::optional<Ending> Spread::endBeforeIf(const Spread &Other) const {
  if (Constant > Other.Constant)
    return Other.endBeforeIf(*this);
  auto IsPositive = [](const Term &T) {
    return T.Factors.empty() && T.Scale > 0;
  };
  if (Among != ThreadGroup::Block || Base != Other.Base ||
      Constant + int64_t(Size) > Other.Constant ||
      !all_of(Other.Strides,
              [&](const Sum &Stride) { return all_of(Stride, IsPositive); }) ||
      !all_of(Other.Counters,
              [&](const Counter &C) { return IsPositive(C.Step); }) ||
      !all_of(Other.Pieces,
              [&](const Piece &P) {
                return all_of(P.Quotient, IsPositive) &&
                       all_of(P.Remainder, IsPositive);
              }) ||
      !all_of(Counters, [](const Counter &C) { return C.Number || C.Last; }))
    return std::nullopt;
  Ending E = {*this, Other.Constant - Constant};
  E.Of.require(Other.Bounded);
  E.Of.Base.clear();
  E.Of.Constant = 0;
  for (Piece &P : E.Of.Pieces)
    P.FixedRemainder.reset();
  return E;
}

} // namespace crsan
