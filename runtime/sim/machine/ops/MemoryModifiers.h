// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modifiers of ld, st, atom and red.
#ifndef CRSAN_SIM_OPS_MEMORYMODIFIERS_H
#define CRSAN_SIM_OPS_MEMORYMODIFIERS_H

#include "ops/Lanes.h"

namespace crsan::sim {

struct MemoryModifiers {
  StateSpace Space = StateSpace::Generic;
  Semantics How;
  unsigned Elements = 1;
};

inline MemoryOrder takeOrder(Decoder &D, MemoryOrder Default) {
  if (D.take("weak"))
    return MemoryOrder::Weak;
  if (D.take("relaxed"))
    return MemoryOrder::Relaxed;
  if (D.take("acquire"))
    return MemoryOrder::Acquire;
  if (D.take("release"))
    return MemoryOrder::Release;
  if (D.take("acq_rel"))
    return MemoryOrder::AcquireRelease;
  return Default;
}

/// Everything but the type; hints to caches are taken and dropped.
inline MemoryModifiers takeMemoryModifiers(Decoder &D) {
  MemoryModifiers M;
  M.How.IsVolatile = D.take("volatile");
  const bool IsRelaxed = D.take("mmio") || M.How.IsVolatile;
  M.How.Order =
      takeOrder(D, IsRelaxed ? MemoryOrder::Relaxed : MemoryOrder::Weak);
  M.How.Within = D.takeScope(Scope::System);
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
  I.How = M.How;
  I.Imm = A.Offset;
  I.IsVisible = M.Space == StateSpace::Global ||
                M.Space == StateSpace::Shared || M.Space == StateSpace::Generic;
}

} // namespace crsan::sim

#endif // CRSAN_SIM_OPS_MEMORYMODIFIERS_H
