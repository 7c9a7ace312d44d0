// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks for PTX that has none.

#include "Checks.h"
#include "Rewrite.h"
#include "crsan/abi/Names.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace crsan::ptxas {

static constexpr StringLiteral UncheckedComment = "// crsan unchecked\n";

bool isFinal(StringRef PTX) {
  return PTX.contains(abi::ConfigName) || PTX.ends_with(UncheckedComment);
}

std::string asUnchecked(StringRef PTX) {
  return (PTX.rtrim('\0') + "\n" + UncheckedComment).str();
}

void sayUnchecked(StringRef File, StringRef Why) {
  errs() << "CRSan: warning: '" << File << "' is not checked: " << Why.trim()
         << "\n";
}

std::optional<std::string> withChecks(StringRef PTX, Mode Checks,
                                      StringRef File) {
  Options How;
  How.Mode = Checks;
  Expected<lift::Rewritten> New = lift::rewrite(PTX.rtrim('\0').str(), How);
  if (!New) {
    sayUnchecked(File, toString(New.takeError()));
    return std::nullopt;
  }
  for (StringRef Line : New->Unchecked) {
    const auto [Function, Why] = Line.split(": ");
    errs() << "CRSan: warning: '" << File << "': " << demangle(Function)
           << " is not checked: " << Why << "\n";
  }
  return std::move(New->PTX);
}

} // namespace crsan::ptxas
