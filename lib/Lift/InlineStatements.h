// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instructions the user wrote.
#ifndef CRSAN_LIFT_INLINESTATEMENTS_H
#define CRSAN_LIFT_INLINESTATEMENTS_H

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace crsan::lift {

/// The statements of inline assembly in a text of PTX, which compilers put
/// between two comments. A `bar.sync 0` in one is not __syncthreads(): other
/// threads may meet it at another barrier.
class InlineStatements {
public:
  explicit InlineStatements(llvm::StringRef Text) {
    constexpr llvm::StringLiteral Begin = "// begin inline asm";
    constexpr llvm::StringLiteral End = "// end inline asm";
    for (size_t At = Text.find(Begin); At != llvm::StringRef::npos;
         At = Text.find(Begin, At)) {
      const size_t Behind = std::min(Text.find(End, At), Text.size());
      All.push_back(Text.slice(At, Behind));
      At = Behind;
    }
  }

  /// Whether `Word`, a part of the text, is in a statement.
  bool contain(llvm::StringRef Word) const {
    auto Next = std::upper_bound(
        All.begin(), All.end(), Word.data(),
        [](const char *At, llvm::StringRef S) { return At < S.data(); });
    return Next != All.begin() && Word.data() < std::prev(Next)->end();
  }

private:
  std::vector<llvm::StringRef> All; ///< In the order of the text.
};

} // namespace crsan::lift

#endif // CRSAN_LIFT_INLINESTATEMENTS_H
