// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Telling what is not checked.

#include "Sites/Omission.h"
#include "crsan/ToolkitFile.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

STATISTIC(NumOmittedPrivate, "Number of accesses omitted: private memory");
STATISTIC(NumOmittedIgnored, "Number of accesses omitted: by the user's wish");
STATISTIC(NumOmittedStrong, "Number of accesses omitted: atomic or volatile");
STATISTIC(NumOmittedSpeculated,
          "Number of accesses omitted: load may be speculated");
STATISTIC(NumOmittedAssembly, "Number of accesses omitted: in inline PTX");
STATISTIC(NumOmittedCopy,
          "Number of accesses omitted: asynchronous copy or operation");
STATISTIC(NumOmittedMatrix, "Number of accesses omitted: matrix");
STATISTIC(NumOmittedTexture, "Number of accesses omitted: texture or surface");
STATISTIC(NumOmittedUnknown,
          "Number of accesses omitted: instruction that is not known");
STATISTIC(NumOmittedUnsupported,
          "Number of accesses omitted: kind, length or type not supported");

namespace crsan {

namespace {

/// How accesses that are left unchecked for one reason are counted, and what a
/// remark says of them.
struct Words {
  Statistic *Number;
  StringLiteral Name, What, Why; ///< Name is empty: nothing is remarked.
};

/// By abi::Omission.
constexpr Words Reasons[] = {
#define CRSAN_OMISSION(Enumerator, Remark, What, Why)                          \
  {&NumOmitted##Enumerator, Remark, What, Why},
#include "crsan/abi/Omissions.def"
};

/// The lines of the user's that an instruction is executed for. A function of
/// the toolkit's that was not inlined stands for its callers.
class UserLines {
public:
  void collect(const DebugLoc &Location, const Function &F) {
    for (const DILocation *L = Location.get(); L; L = L->getInlinedAt())
      if (L->getLine() && !isToolkitFile(L->getFilename())) {
        Lines.insert(L);
        return;
      }
    if (!Seen.insert(&F).second)
      return;
    for (const User *U : F.users())
      if (const auto *Call = dyn_cast<CallBase>(U);
          Call && Call->getCalledFunction() == &F)
        collect(Call->getDebugLoc(), *Call->getFunction());
  }

  SmallSetVector<const DILocation *, 4> Lines;

private:
  SmallPtrSet<const Function *, 4> Seen;
};

} // namespace

std::optional<abi::Omission> omissionOf(Skip Reason) {
  switch (Reason) {
#define CRSAN_OMISSION(Enumerator, Remark, What, Why)                          \
  case Skip::Enumerator:                                                       \
    return abi::Omission::Enumerator;
#include "crsan/abi/Omissions.def"
  case Skip::None:
  case Skip::Private:
  case Skip::Strong:
    return std::nullopt;
  }
  llvm_unreachable("not a Skip");
}

bool isOmission(Skip Reason) {
  const std::optional<abi::Omission> Why = omissionOf(Reason);
  return Why && !Reasons[size_t(*Why)].Name.empty();
}

void Omissions::note(const Instruction &I, Skip Reason,
                     OptimizationRemarkEmitter &ORE) {
  NumOmittedPrivate += Reason == Skip::Private;
  NumOmittedStrong += Reason == Skip::Strong;
  const std::optional<abi::Omission> Why = omissionOf(Reason);
  if (!Why)
    return;
  const Words &Words = Reasons[size_t(*Why)];
  ++*Words.Number;
  if (Words.Name.empty()) {
    ++Exempt;
    List.push_back({I.getDebugLoc(), I.getFunction(), *Why});
    return;
  }
  auto Remark = [&](const DebugLoc &At, const DiagnosticLocation &Where) {
    ++Unchecked;
    List.push_back({At, I.getFunction(), *Why});
    ORE.emit([&] {
      return OptimizationRemarkMissed(DEBUG_TYPE, Words.Name, Where,
                                      I.getParent())
             << Words.What << " is not checked for races: " << Words.Why;
    });
  };
  UserLines Users;
  Users.collect(I.getDebugLoc(), *I.getFunction());
  for (const DILocation *L : Users.Lines)
    Remark(DebugLoc(L), DiagnosticLocation(DebugLoc(L)));
  if (!Users.Lines.empty())
    return;
  if (I.getDebugLoc())
    Remark(I.getDebugLoc(), DiagnosticLocation(I.getDebugLoc()));
  else
    Remark(DebugLoc(), DiagnosticLocation(I.getFunction()->getSubprogram()));
}

} // namespace crsan
