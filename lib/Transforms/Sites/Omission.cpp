//===- Omission.cpp - Telling what is not checked -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

/// A reason as a remark has it.
struct Words {
  StringRef Name, Why;
};

/// No words for what is no omission.
Words wordsOf(Skip Reason) {
  switch (Reason) {
  case Skip::None:
  case Skip::Private:
  case Skip::Ignored:
  case Skip::Strong:
    return {};
  case Skip::Speculated:
    return {"SpeculatedLoad",
            "load is not checked for races: the optimiser may have moved it "
            "above the branch that guards it"};
  case Skip::Assembly:
    return {"InlineAssembly",
            "access is not checked for races: it is in inline PTX"};
  case Skip::Copy:
    return {"AsynchronousCopy",
            "access is not checked for races: it is made in the background, by "
            "an asynchronous copy or matrix operation"};
  case Skip::Matrix:
    return {"MatrixAccess",
            "access is not checked for races: matrix loads and stores of a "
            "warp are not supported"};
  case Skip::Texture:
    return {"TextureAccess", "access is not checked for races: textures and "
                             "surfaces are not supported"};
  case Skip::Unknown:
    return {"UnknownInstruction",
            "instruction is not checked for races: CRSan does not know what "
            "memory it accesses"};
  case Skip::Unsupported:
    return {"UnsupportedAccess", "access is not checked for races: its kind, "
                                 "length or type is not supported"};
  }
  llvm_unreachable("not a Skip");
}

void countInStatistics(Skip Reason) {
  switch (Reason) {
  case Skip::None:
    return;
  case Skip::Private:
    ++NumOmittedPrivate;
    return;
  case Skip::Ignored:
    ++NumOmittedIgnored;
    return;
  case Skip::Strong:
    ++NumOmittedStrong;
    return;
  case Skip::Speculated:
    ++NumOmittedSpeculated;
    return;
  case Skip::Assembly:
    ++NumOmittedAssembly;
    return;
  case Skip::Copy:
    ++NumOmittedCopy;
    return;
  case Skip::Matrix:
    ++NumOmittedMatrix;
    return;
  case Skip::Texture:
    ++NumOmittedTexture;
    return;
  case Skip::Unknown:
    ++NumOmittedUnknown;
    return;
  case Skip::Unsupported:
    ++NumOmittedUnsupported;
    return;
  }
}

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

bool isOmission(Skip Reason) { return !wordsOf(Reason).Name.empty(); }

void Omissions::note(const Instruction &I, Skip Reason,
                     OptimizationRemarkEmitter &ORE) {
  countInStatistics(Reason);
  Exempt += Reason == Skip::Ignored;
  if (!isOmission(Reason))
    return;
  const Words Words = wordsOf(Reason);
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
