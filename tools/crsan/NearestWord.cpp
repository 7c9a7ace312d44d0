// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a mistyped word may have meant.
#include "NearestWord.h"

#include "llvm/ADT/StringRef.h"

using namespace crsan;

std::string crsan::didYouMean(std::string_view Word,
                              const std::vector<std::string> &Words) {
  const std::string *Nearest = nullptr;
  // A third of the letters may be wrong.
  unsigned Least = unsigned(Word.size()) / 3 + 2;
  for (const std::string &Candidate : Words) {
    const unsigned Distance =
        llvm::StringRef(Word).edit_distance(Candidate, true, Least);
    if (Distance < Least) {
      Least = Distance;
      Nearest = &Candidate;
    }
  }
  return Nearest ? "; did you mean '" + *Nearest + "'?" : "";
}
