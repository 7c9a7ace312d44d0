//===- Convergence.h - Machine code that keeps warps together ---*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where ptxas would let a check part the lanes of a warp, or keep them parted,
// its machine code is changed in place. docs/convergence.md has the experiments
// behind both changes. Object files of sm_70 and later are understood; what is
// not an ELF file, or of sections outside of it, stays as it is.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_PTX_CONVERGENCE_H
#define CRSAN_PTX_CONVERGENCE_H

#include <functional>
#include <span>
#include <string_view>

namespace crsan::ptx {

using FunctionFilter = std::function<bool(std::string_view Function)>;

/// Makes each YIELD a NOP in the functions of `Object` for which `IsWanted`
/// holds, and returns how many there were.
///
/// ptxas puts a YIELD where lanes may wait for what other lanes of their warp
/// write: at the head of a function or a loop that reads strongly, or updates
/// atomically. A lane that executes it releases the lanes that wait for it at
/// the end of a branch: these go on without it, and the warp is in two parts.
unsigned removeYields(std::span<char> Object, const FunctionFilter &IsWanted);

/// Gives the places where the lanes of a parted warp gather a convergence
/// barrier register of their own, in the functions of `Object` for which
/// `IsWanted` holds, and returns how many places there were.
///
/// Where an instruction wants the whole warp and is not aligned
/// (`barrier.sync`, `shfl.sync`), ptxas has code for a parted warp: `BSSY B0`,
/// then `WARPSYNC.COLLECTIVE`, at which lanes wait for the others, and `BSYNC
/// B0`, which joins the parts. Lanes that come later may call checks while
/// others wait, and what they call uses B0 too, as a called function may: B0
/// then no longer names the lanes that wait, and `BSYNC` joins nothing. So the
/// place is given a register that no function of `Object` uses for anything
/// else; if there is none, it stays as it is.
unsigned reserveGatherings(std::span<char> Object,
                           const FunctionFilter &IsWanted);

} // namespace crsan::ptx

#endif // CRSAN_PTX_CONVERGENCE_H
