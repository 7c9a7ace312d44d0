// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of kernels without checks, which tell how many registers a kernel
// needs without them.
//
// A kernel whose blocks wait for each other hangs if not all of them are on the
// device at the same time, and checks need registers, of which each block takes
// its share. So a kernel that may wait for other blocks has a native twin: a
// copy without checks, which crsan-ptxas assembles, asks for its registers, and
// throws away. The kernel itself is then assembled within the same number.
// A kernel that seems to need more registers than kernels without launch bounds
// may use has a twin, too, and may then use as many as that.
#ifndef CRSAN_TRANSFORMS_NATIVETWIN_H
#define CRSAN_TRANSFORMS_NATIVETWIN_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Module.h"

namespace crsan {

/// Adds a native twin, named abi::TwinPrefix and its name, for each kernel that
/// may wait for other blocks, and for those in `Large`. To be called before
/// anything is instrumented.
void addNativeTwins(llvm::Module &M,
                    const llvm::SmallPtrSetImpl<const llvm::Function *> &Large);

/// Whether `F` is a native twin, or a function that only native twins call.
bool isNativeTwin(const llvm::Function &F);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_NATIVETWIN_H
