// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many registers kernels may use.
//
// Kernels are limited to so many registers that they can be launched as without
// checks: a kernel without launch bounds with blocks of 1,024 threads, unless
// its native twin (lib/Transforms/NativeTwin.h) needs more registers than these
// can have, and a kernel that may wait for other blocks with as many blocks on
// the device as its native twin.
#ifndef CRSAN_ASSEMBLER_REGISTERS_H
#define CRSAN_ASSEMBLER_REGISTERS_H

#include "ModuleItems.h"
#include "PTX/RegisterLimits.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>
#include <map>
#include <string>

namespace crsan::assembler {

/// Registers of a thread, by kernel.
using KernelRegisters = std::map<std::string, unsigned>;

// With FullResidency registers, the runtime reduces no kernel's occupancy. In
// metadata mode each synchronisation calls the runtime, which is faster with
// LargestBlock.
using ptx::FullResidency;
using ptx::LargestBlock;
using ptx::MostRegisters;

/// A kernel and the launch bounds that its directives set.
struct EntryBounds {
  std::string Name;
  unsigned MaxThreads = 0;   ///< Of a block: `.maxntid`, `.reqntid`; 0: none.
  unsigned MinBlocks = 0;    ///< Of a multiprocessor: `.minnctapersm`.
  unsigned MaxRegisters = 0; ///< `.maxnreg`.

  /// The registers of a thread with which its blocks fit, by these directives,
  /// on a multiprocessor of 65,536 registers; 0: any number.
  unsigned registersThatFit() const;
};

/// The kernels that `Module` defines, in the order of the text.
std::vector<EntryBounds> entryBounds(llvm::ArrayRef<ModuleItem> Module);

/// What a kernel is limited to of which nothing is known. `Most`: what the user
/// permits.
inline unsigned usualLimit(unsigned Most) {
  return std::min(Most, LargestBlock);
}

struct RegisterLimits {
  KernelRegisters Kernels; ///< Of kernels without bounds, or with weaker ones.
  unsigned Functions; ///< The least of all kernels but those that need few.
};

/// The kernels of which the pass says that they seem to need few registers
/// without checks, or many (lib/Transforms/RegisterNeed.h).
struct RegisterNeeds {
  llvm::StringSet<> Few, Many;
};

/// The limits of a module's kernels: by their launch bounds, and by their
/// native twins, of which `ByTwin` has what limitByTwin() says. A kernel that
/// has neither is limited to LargestBlock, or to FullResidency if it needs few.
/// One that needs many may use what its twin does. As code that is linked,
/// a twin would use more registers than natively. So it is limited to what
/// `ByTwin` says (if it needs many, to no less than LargestBlock), or to
/// FullResidency if its kernel needs few. `Most`: what the user permits kernels
/// without launch bounds, native twins among them.
RegisterLimits registerLimits(llvm::ArrayRef<ModuleItem> Module,
                              const KernelRegisters &ByTwin,
                              const RegisterNeeds &Needs, unsigned Most);

/// The text of `Module`, which is `PTX`, in which each kernel that `Limits`
/// names and that has no `.maxnreg` gets one.
std::string limitRegisters(llvm::StringRef PTX,
                           llvm::ArrayRef<ModuleItem> Module,
                           const KernelRegisters &Limits);

/// From what `ptxas --verbose` prints: the registers that each kernel uses.
KernelRegisters usedRegisters(llvm::StringRef PtxasOutput);

/// The limit of a kernel whose native twin uses `Used` registers.
unsigned limitByTwin(unsigned Used);

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_REGISTERS_H
