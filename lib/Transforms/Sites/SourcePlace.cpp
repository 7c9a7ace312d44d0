// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A place of the source.

#include "Sites/SourcePlace.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace crsan {

bool areOfOneLine(const Instruction &A, const Instruction &B) {
  const DILocation *LA = A.getDebugLoc(), *LB = B.getDebugLoc();
  return LA && LB && LA->getLine() && LA->getLine() == LB->getLine() &&
         LA->getFile() == LB->getFile() &&
         LA->getInlinedAt() == LB->getInlinedAt();
}

std::optional<SourcePlace> sourcePlace(const DebugLoc &Location) {
  std::string Text;
  uint32_t Line = 0;
  for (const DILocation *L = Location.get(); L; L = L->getInlinedAt()) {
    if (L->getLine() == 0 || L->getColumn() == 0)
      return std::nullopt;
    Text += (L->getDirectory() + "/" + L->getFilename() + ":" +
             Twine(L->getLine()) + ":" + Twine(L->getColumn()) + "\n")
                .str();
    if (L == Location.get())
      Line = uint32_t(xxh3_64bits(Text));
  }
  if (Text.empty())
    return std::nullopt;
  return SourcePlace{xxh3_64bits(Text), Line};
}

} // namespace crsan
