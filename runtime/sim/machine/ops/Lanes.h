// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handlers made of a function of one lane.
#ifndef CRSAN_SIM_OPS_LANES_H
#define CRSAN_SIM_OPS_LANES_H

#include "Decoder.h"
#include "Execution.h"

#include <type_traits>

namespace crsan::sim {

using ptx::ScalarType;
using ptx::StateSpace;

/// 16 bytes of one lane.
struct Wide {
  uint64_t Low, High;
};

/// Op[0] = F(Op[1]), lane by lane.
template <auto F, class D, class A = D>
Outcome unary(Execution &X, const Instruction &I) {
  D *To = X.row<D>(I.Op[0]);
  const A *P = X.row<A>(I.Op[1]);
  forLanes(X.Mask, [&](unsigned L) { To[L] = D(F(P[L])); });
  return Outcome::Next;
}

template <auto F, class D, class A = D, class B = A>
Outcome binary(Execution &X, const Instruction &I) {
  D *To = X.row<D>(I.Op[0]);
  const A *P = X.row<A>(I.Op[1]);
  const B *Q = X.row<B>(I.Op[2]);
  forLanes(X.Mask, [&](unsigned L) { To[L] = D(F(P[L], Q[L])); });
  return Outcome::Next;
}

template <auto F, class D, class A = D, class B = A, class C = A>
Outcome ternary(Execution &X, const Instruction &I) {
  D *To = X.row<D>(I.Op[0]);
  const A *P = X.row<A>(I.Op[1]);
  const B *Q = X.row<B>(I.Op[2]);
  const C *R = X.row<C>(I.Op[3]);
  forLanes(X.Mask, [&](unsigned L) { To[L] = D(F(P[L], Q[L], R[L])); });
  return Outcome::Next;
}

/// The instantiation for an integer type; null for other types. F is a lambda
/// of arguments of that type.
template <template <auto, class> class Form, auto F>
Handler forInteger(ScalarType T) {
  switch (T) {
  case ScalarType::U8:
  case ScalarType::B8:
    return Form<F, uint8_t>::run;
  case ScalarType::S8:
    return Form<F, int8_t>::run;
  case ScalarType::U16:
  case ScalarType::B16:
    return Form<F, uint16_t>::run;
  case ScalarType::S16:
    return Form<F, int16_t>::run;
  case ScalarType::U32:
  case ScalarType::B32:
    return Form<F, uint32_t>::run;
  case ScalarType::S32:
    return Form<F, int32_t>::run;
  case ScalarType::U64:
  case ScalarType::B64:
    return Form<F, uint64_t>::run;
  case ScalarType::S64:
    return Form<F, int64_t>::run;
  default:
    return nullptr;
  }
}

template <auto F, class T> struct Unary {
  static Outcome run(Execution &X, const Instruction &I) {
    return unary<F, T>(X, I);
  }
};
template <auto F, class T> struct Binary {
  static Outcome run(Execution &X, const Instruction &I) {
    return binary<F, T>(X, I);
  }
};
template <auto F, class T> struct Ternary {
  static Outcome run(Execution &X, const Instruction &I) {
    return ternary<F, T>(X, I);
  }
};

/// One function of the lanes' values at run time, for what is rare: F gets
/// zero- extended values of Op[1] to Op[3] and the instruction.
template <auto F> Outcome slow(Execution &X, const Instruction &I) {
  forLanes(X.Mask, [&](unsigned L) {
    uint64_t A = I.Op[1].IsValid ? X.value(I.Op[1], L) : 0;
    uint64_t B = I.Op[2].IsValid ? X.value(I.Op[2], L) : 0;
    uint64_t C = I.Op[3].IsValid ? X.value(I.Op[3], L) : 0;
    X.setValue(I.Op[0], L, F(A, B, C, I));
  });
  return Outcome::Next;
}

template <class T>
using Twice = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<
        sizeof(T) == 4,
        std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

inline bool isInteger(ScalarType T) {
  return (T >= ScalarType::B8 && T <= ScalarType::B64) ||
         (T >= ScalarType::U8 && T <= ScalarType::S64);
}

} // namespace crsan::sim

#endif // CRSAN_SIM_OPS_LANES_H
