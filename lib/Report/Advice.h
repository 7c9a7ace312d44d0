// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A change of the source that orders two accesses.
#ifndef CRSAN_REPORT_ADVICE_H
#define CRSAN_REPORT_ADVICE_H

#include "Report/Finding.h"
#include "Report/SourceFiles.h"

#include <string>
#include <vector>

namespace crsan {

/// One change: a text in a line is replaced, or a line is inserted.
struct Edit {
  std::string File;
  uint32_t Line = 0;
  uint32_t Column = 1; ///< Where the replaced text begins, in bytes from 1.
  std::string Old;     ///< What is replaced, in one piece in the line; empty: a
                       ///< line is inserted before this one.
  std::string New;
};

/// The changes after which the two accesses of the finding do not race; empty:
/// the source leaves doubts. Considered are
///   - one statement that reads, changes and writes a variable of four bytes:
///     an atomic update does the same in one step;
///   - atomics of block scope, used by threads of two blocks;
///   - an access of a kernel's body that is followed by one of another thread
///   of
///     the block: a barrier may stand between the two where all threads come
///     by, which is outside of every branch and loop and behind no return.
std::vector<Edit> adviceFor(const Finding &F, SourceFiles &Sources);

/// All of them in one sentence behind a blank, "To fix this, insert ...";
/// empty if there are none.
std::string adviceWords(const std::vector<Edit> &Edits,
                        std::string_view StripPathPrefix);

/// "insert `__syncthreads();` before line 12 of sum.cu".
std::string wordsOf(const Edit &E, std::string_view StripPathPrefix);

} // namespace crsan

#endif // CRSAN_REPORT_ADVICE_H
