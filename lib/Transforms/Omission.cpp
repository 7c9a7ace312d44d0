//===- Omission.cpp - Telling what is not checked -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Omission.h"
#include "llvm/ADT/Statistic.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

STATISTIC(NumOmittedPrivate, "Number of accesses omitted: private memory");
STATISTIC(NumOmittedIgnored, "Number of accesses omitted: by the user's wish");
STATISTIC(NumOmittedStrong, "Number of accesses omitted: atomic or volatile");
STATISTIC(NumOmittedSpeculated,
          "Number of accesses omitted: load may be speculated");
STATISTIC(NumOmittedAssembly, "Number of accesses omitted: in inline PTX");
STATISTIC(NumOmittedSpecial,
          "Number of accesses omitted: of a copy, a matrix or a texture");
STATISTIC(NumOmittedUnsupported,
          "Number of accesses omitted: length or type not supported");

namespace crsan {

bool noteSkipped(const Instruction &I, Skip Reason,
                 OptimizationRemarkEmitter &ORE) {
  StringRef Name, Why;
  switch (Reason) {
  case Skip::None:
    return false;
  case Skip::Private:
    ++NumOmittedPrivate;
    return false;
  case Skip::Ignored:
    ++NumOmittedIgnored;
    return false;
  case Skip::Strong:
    ++NumOmittedStrong;
    return false;
  case Skip::Speculated:
    ++NumOmittedSpeculated;
    Name = "SpeculatedLoad";
    Why =
        "load is not checked for races: the optimiser may have moved it above "
        "the branch that guards it";
    break;
  case Skip::Assembly:
    ++NumOmittedAssembly;
    Name = "InlineAssembly";
    Why = "access is not checked for races: it is in inline PTX";
    break;
  case Skip::Special:
    ++NumOmittedSpecial;
    Name = "SpecialAccess";
    Why = "access is not checked for races: copies in the background, matrices "
          "and textures are not supported";
    break;
  case Skip::Unsupported:
    ++NumOmittedUnsupported;
    Name = "UnsupportedAccess";
    Why =
        "access is not checked for races: its length or type is not supported";
    break;
  }
  ORE.emit(
      [&] { return OptimizationRemarkMissed(DEBUG_TYPE, Name, &I) << Why; });
  return true;
}

} // namespace crsan
