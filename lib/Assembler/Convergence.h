// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code that keeps warps together.
//
// ptxas makes machine code in which a check may part the lanes of a warp, or
// keep parted lanes apart. This code is changed in place, for sm_70 and later.
// docs/convergence.md has the experiments behind both changes.
#ifndef CRSAN_ASSEMBLER_CONVERGENCE_H
#define CRSAN_ASSEMBLER_CONVERGENCE_H

#include "MachineCode.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace crsan::assembler {

using FunctionFilter = llvm::function_ref<bool(llvm::StringRef Function)>;

/// Makes each YIELD a NOP in the functions for which `IsWanted` holds, and
/// returns how many YIELDs there were.
///
/// ptxas puts a YIELD where lanes may wait for what other lanes of their warp
/// write: at the head of a function or a loop that reads strongly, or updates
/// atomically. A lane that executes it releases the lanes that wait for it at
/// the end of a branch: these go on without it, and the warp is in two parts.
unsigned removeYields(llvm::MutableArrayRef<MachineFunction> Functions,
                      FunctionFilter IsWanted);

/// The places at which the lanes of a parted warp gather.
struct Gatherings {
  unsigned Reserved = 0; ///< They have a register of their own now.
  unsigned Shared = 0;   ///< They share a register, because none was free.
};

/// Gives the places where the lanes of a parted warp gather a convergence
/// barrier register of their own, in the functions for which `IsWanted` holds.
/// `Functions` are all functions of an object file.
///
/// Where an instruction needs the whole warp and is not aligned
/// (`barrier.sync`, `shfl.sync`), ptxas has code for a parted warp: `BSSY B0`,
/// then `WARPSYNC.COLLECTIVE`, at which lanes wait for the others, and `BSYNC
/// B0`, which joins the parts. Lanes that arrive later may call checks while
/// others wait, and the called functions use B0 too, as a called function may:
/// B0 then no longer names the lanes that wait, and `BSYNC` joins nothing. So
/// the place is given a register that no function uses for anything else. If
/// there is none, the place stays as it is.
Gatherings reserveGatherings(llvm::MutableArrayRef<MachineFunction> Functions,
                             FunctionFilter IsWanted);

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_CONVERGENCE_H
