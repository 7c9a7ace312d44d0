//===- MemoryModifiers.h - What ld, st, atom and red have in common -*- C++
//-*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_SIM_OPS_MEMORYMODIFIERS_H
#define CRSAN_SIM_OPS_MEMORYMODIFIERS_H

#include "ops/Lanes.h"

namespace crsan::sim {

struct MemoryModifiers {
  StateSpace Space = StateSpace::Generic;
  Ordering Order;
  unsigned Elements = 1;
};

inline Strength takeStrength(Decoder &D, Strength Default) {
  if (D.take("weak"))
    return Strength::Weak;
  if (D.take("relaxed"))
    return Strength::Relaxed;
  if (D.take("acquire"))
    return Strength::Acquire;
  if (D.take("release"))
    return Strength::Release;
  if (D.take("acq_rel"))
    return Strength::AcqRel;
  if (D.take("volatile"))
    return Strength::Volatile;
  if (D.take("mmio")) {
    D.take("relaxed");
    return Strength::MMIO;
  }
  return Default;
}

/// Everything but the type; hints to caches are taken and dropped.
inline MemoryModifiers takeMemoryModifiers(Decoder &D) {
  MemoryModifiers M;
  if (D.take("mmio")) {
    D.take("relaxed");
    M.Order.Order = Strength::MMIO;
  } else {
    M.Order.Order = takeStrength(D, Strength::Weak);
  }
  M.Order.Within = D.takeScope(Scope::System);
  M.Space = D.takeSpace();
  D.take("nc");
  D.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  for (std::string_view Prefix : {"L1::", "L2::", "L1::", "L2::"})
    D.takePrefixed(Prefix);
  if (std::string_view V = D.takeOneOf({"v2", "v4", "v8"}); !V.empty())
    M.Elements = unsigned(V[1] - '0');
  return M;
}

inline void applyTo(Instruction &I, const MemoryModifiers &M,
                    const Address &A) {
  I.Space = M.Space;
  I.Order = M.Order;
  I.Imm = A.Offset;
  I.IsVisible = M.Space == StateSpace::Global ||
                M.Space == StateSpace::Shared || M.Space == StateSpace::Generic;
}

} // namespace crsan::sim

#endif // CRSAN_SIM_OPS_MEMORYMODIFIERS_H
