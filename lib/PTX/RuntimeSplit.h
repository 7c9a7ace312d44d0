//===- RuntimeSplit.h - A module's PTX, without the runtime -----*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In whole-program mode ptxas compiles a copy of the device runtime for every
// kernel, and gives every kernel the registers that the copy needs. Assembled
// apart and linked by nvlink, the runtime is compiled once, and within a limit
// of registers of its own. The native twins of kernels (abi::TwinPrefix) are
// assembled only to be asked how many registers they use.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_PTX_RUNTIMESPLIT_H
#define CRSAN_PTX_RUNTIMESPLIT_H

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crsan::ptx {

struct RuntimeSplit {
  std::string Program; ///< The user's code, which declares the runtime's names.
  std::string Runtime; ///< The runtime's definitions.
  std::string Twins;   ///< Native twins with what they refer to; empty: none.
};

/// Splits the PTX of an instrumented module at file scope: objects and
/// functions whose names begin with `__crsan_` are the runtime's, except the
/// module's own sites, windows and table, and the native twins. Nothing if
/// there is no runtime in it, or the text is not understood; it is then to be
/// assembled as it is.
std::optional<RuntimeSplit> splitRuntime(std::string_view PTX);

/// The module without its native twins, for where it is assembled as a whole.
/// Nothing if the text is not understood.
std::optional<std::string> dropTwins(std::string_view PTX);

/// A kernel and what its directives say of its launches.
struct EntryBounds {
  std::string Name;
  unsigned MaxThreads = 0;   ///< Of a block: `.maxntid`, `.reqntid`; 0: unsaid.
  unsigned MinBlocks = 0;    ///< Of a multiprocessor: `.minnctapersm`.
  unsigned MaxRegisters = 0; ///< `.maxnreg`.

  /// The registers of a thread that its blocks can have, by these directives,
  /// on a multiprocessor of 65,536 registers; 0: any number.
  unsigned registersThatFit() const;
};

/// The kernels of a module, in the order of the text.
std::vector<EntryBounds> entryBounds(std::string_view PTX);

/// Gives each kernel that `Limits` names, and that has no `.maxnreg`, one.
std::string limitRegisters(std::string_view PTX,
                           const std::map<std::string, unsigned> &Limits);

/// From what `ptxas --verbose` prints: registers of a thread by kernel.
std::map<std::string, unsigned> usedRegisters(std::string_view PtxasOutput);

} // namespace crsan::ptx

#endif // CRSAN_PTX_RUNTIMESPLIT_H
