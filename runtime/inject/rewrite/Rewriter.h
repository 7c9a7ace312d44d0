// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks for code that was built without them.
//
// crsan-ptxas does the work, as a process of its own, and remembers it: LLVM is
// not for a library that is loaded into programs.
#ifndef CRSAN_INJECT_REWRITE_REWRITER_H
#define CRSAN_INJECT_REWRITE_REWRITER_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace crsan {

/// PTX with checks, and what has none.
struct RewrittenCode {
  /// PTX, or a fat binary; the PTX as it was if there is a Problem.
  std::string PTX;
  /// Why the whole module has no checks; empty: it has.
  std::string Problem;
  /// Functions that have no checks (mangled), and why.
  std::vector<std::pair<std::string, std::string>> Unchecked;
  bool WasCached = false;
  std::string WhyNotCached; ///< Empty, unless the cache could not be used.
};

/// Puts checks of a mode (crsan/Modes.def) into a module. Words: what
/// crsan-ptxas is to do instead of making PTX (crsan/PtxasOptions.def), and
/// how; for a fat binary, there may be several modules, with a null between
/// each two.
RewrittenCode rewrite(std::string PTX, std::string_view Mode,
                      const std::vector<std::string> &Words = {
                          "--crsan-rewrite"});

/// What is not checked, for a reader: a line for each reason, with the number
/// of functions. `Module` is what the lines call the module.
std::vector<std::string> uncheckedLines(const RewrittenCode &Code,
                                        std::string_view Module);

} // namespace crsan

#endif // CRSAN_INJECT_REWRITE_REWRITER_H
