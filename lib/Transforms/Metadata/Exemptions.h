// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that cannot race.
#ifndef CRSAN_TRANSFORMS_METADATA_EXEMPTIONS_H
#define CRSAN_TRANSFORMS_METADATA_EXEMPTIONS_H

#include "Metadata/EventPlan.h"

namespace crsan {

/// Emits, at the head of a kernel, the conditions under which checks are
/// needless (EventPlan::Exemption::Holds). If no check is needed where all of
/// them hold, the kernel then executes a copy of its body without checks
/// (PlainBody). Nothing is exempt in a kernel that `IsLeaky` (EnterLeaky).
/// Returns the instruction in front of which the body with checks begins.
llvm::Instruction *emitExemptions(llvm::Function &F, EventPlan &Plan,
                                  bool IsLeaky);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_EXEMPTIONS_H
