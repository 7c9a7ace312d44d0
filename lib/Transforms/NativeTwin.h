// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of kernels without checks.
//
// In the collider each kernel has a native twin, which the library launches in
// the place of the kernel where nothing is to be checked
// (runtime/inject/session/NativeTwins.h): such a launch costs what it costs
// natively. Kernels that are compiled without optimisation have none, nor have
// kernels whose functions may be called in other ways than by this module's
// code: such a function may permute the indices of blocks, which a twin does
// not.
//
// Twins also tell how many registers kernels need without checks. A kernel
// whose blocks wait for each other hangs if not all of them are on the device
// at the same time, and checks need registers, of which each block takes its
// share. So crsan-ptxas asks the twin of a kernel that may wait for other
// blocks, and assembles the kernel within the same number. A kernel that seems
// to need more registers than kernels without launch bounds may use has a twin
// that is asked, too, and may then use as many as that.
#ifndef CRSAN_TRANSFORMS_NATIVETWIN_H
#define CRSAN_TRANSFORMS_NATIVETWIN_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Module.h"

namespace crsan {

/// Adds a native twin, named abi::TwinPrefix and its name, for each kernel that
/// may have one, if `AreLaunched`; and one that is asked for its registers for
/// each kernel that may wait for other blocks, and for those in `Large`. To be
/// called before anything is instrumented.
void addNativeTwins(llvm::Module &M,
                    const llvm::SmallPtrSetImpl<const llvm::Function *> &Large,
                    bool AreLaunched);

/// Whether `F` is a native twin, or a function that only native twins call.
bool isNativeTwin(const llvm::Function &F);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_NATIVETWIN_H
