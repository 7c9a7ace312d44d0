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
  StringLiteral Name, Why; ///< Empty: no omission.
};

/// By Skip.
constexpr Words Reasons[] = {
    {nullptr, "", ""},
    {&NumOmittedPrivate, "", ""},
    {&NumOmittedIgnored, "", ""},
    {&NumOmittedStrong, "", ""},
    {&NumOmittedSpeculated, "SpeculatedLoad",
     "load is not checked for races: the optimiser may have moved it above the "
     "branch that guards it"},
    {&NumOmittedAssembly, "InlineAssembly",
     "access is not checked for races: it is in inline PTX"},
    {&NumOmittedCopy, "AsynchronousCopy",
     "access is not checked for races: it is made in the background, by an "
     "asynchronous copy or matrix operation"},
    {&NumOmittedMatrix, "MatrixAccess",
     "access is not checked for races: matrix loads and stores of a warp are "
     "not supported"},
    {&NumOmittedTexture, "TextureAccess",
     "access is not checked for races: textures and surfaces are not "
     "supported"},
    {&NumOmittedUnknown, "UnknownInstruction",
     "instruction is not checked for races: CRSan does not know what memory it "
     "accesses"},
    {&NumOmittedUnsupported, "UnsupportedAccess",
     "access is not checked for races: its kind, length or type is not "
     "supported"},
};
static_assert(std::size(Reasons) == size_t(Skip::Unsupported) + 1);

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

bool isOmission(Skip Reason) { return !Reasons[size_t(Reason)].Name.empty(); }

void Omissions::note(const Instruction &I, Skip Reason,
                     OptimizationRemarkEmitter &ORE) {
  const Words &Words = Reasons[size_t(Reason)];
  if (Words.Number)
    ++*Words.Number;
  Exempt += Reason == Skip::Ignored;
  if (!isOmission(Reason))
    return;
  auto Remark = [&](const DiagnosticLocation &Where) {
    ++Unchecked;
    ORE.emit([&] {
      return OptimizationRemarkMissed(DEBUG_TYPE, Words.Name, Where,
                                      I.getParent())
             << Words.Why;
    });
  };
  UserLines Users;
  Users.collect(I.getDebugLoc(), *I.getFunction());
  for (const DILocation *L : Users.Lines)
    Remark(DiagnosticLocation(DebugLoc(L)));
  if (!Users.Lines.empty())
    return;
  if (I.getDebugLoc())
    Remark(DiagnosticLocation(I.getDebugLoc()));
  else
    Remark(DiagnosticLocation(I.getFunction()->getSubprogram()));
}

} // namespace crsan
