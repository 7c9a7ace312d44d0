// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of asynchronous copies in inline PTX.
#ifndef CRSAN_TRANSFORMS_EVENTS_ASMCOPIES_H
#define CRSAN_TRANSFORMS_EVENTS_ASMCOPIES_H

#include "Events/AsmOperands.h"
#include "llvm/ADT/StringMap.h"

namespace crsan {

/// What a cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async or red.async
/// copies, under the condition `If`; nothing if the assembly computes an
/// operand, or for forms that are not followed. `Predicates`: what is known of
/// the statement's predicate registers.
std::optional<CopyOperands>
copyOf(const ptx::Instruction &I, const Condition &If,
       const AsmOperands &Operands,
       const llvm::StringMap<Condition> &Predicates);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_EVENTS_ASMCOPIES_H
