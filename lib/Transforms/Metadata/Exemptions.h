// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that cannot race.
#ifndef CRSAN_TRANSFORMS_METADATA_EXEMPTIONS_H
#define CRSAN_TRANSFORMS_METADATA_EXEMPTIONS_H

#include "Metadata/EventPlan.h"

namespace crsan {

/// Emits, at the head of a kernel, the conditions under which checks are
/// needless (EventPlan::Exemption::Holds). A kernel gets a copy of its body
/// without checks (PlainBody) if it can be copied, and executes that copy where
/// no check is needed if all conditions hold and they do, or where the grid is
/// not followed (runtime/device/metadata/GridSample.h). None of this is done in
/// a leaky kernel. `Flags`: its EnterFlags. `Sites`: the first of its sites, or
/// null. Returns the instruction in front of which the body with checks begins.
llvm::Instruction *emitExemptions(llvm::Function &F, EventPlan &Plan,
                                  uint32_t Flags, llvm::Constant *Sites);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_EXEMPTIONS_H
