// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why a finding is a race, in words.
#include "Report/Explanation.h"
#include "MissingOrder.h"
#include "Report/KindGuide.h"

#include <fmt/format.h>

using namespace crsan;
using namespace crsan::abi;

/// What a __syncwarp() is not enough for.
static std::string withinWarp(const Finding &F, const char *Otherwise) {
  if (F.HasWider)
    return "lanes do not run in lockstep. Threads of other warps may race here "
           "as well (see the other finding); then a __syncwarp() alone does "
           "not mend it.";
  return fmt::format("lanes do not run in lockstep, so without __syncwarp() "
                     "between them {}.",
                     Otherwise);
}

static std::string explainIntraWarp(const Finding &F) {
  if (F.kind() == RaceKind::IntraWarpLostUpdate) {
    if (F.First.Flags & SameValue)
      return "Several lanes of a warp wrote this location with one store; the "
             "values were equal this time, but it is still a data race.";
    return "Several lanes of a warp wrote this location with one store; which "
           "of the values remains is undefined.";
  }
  if (F.Site && F.Site->Access == AccessKind::Store)
    return "Two lanes of a warp wrote this location, each by another store; " +
           withinWarp(F, "either write may be lost");
  return "One lane of a warp wrote this location and another accesses it "
         "by another instruction; " +
         withinWarp(F, "their order is undefined");
}

/// Of a copy or a fill, against something that the collider does not know.
static std::string explainOperation(const Finding &F) {
  const bool Writes = F.Site->Access != AccessKind::Load;
  return fmt::format(
      "Something changed what {} was about to {}: no stream, event or "
      "synchronisation by the host orders the two.",
      F.Site->Operation, Writes ? "write" : "read");
}

/// Of the collider's findings, which know the accused side best.
static std::string explainOneSide(const Finding &F) {
  const bool IsOperation = F.Site && !F.Site->Operation.empty();
  switch (F.kind()) {
  case RaceKind::ClobberedRead:
  case RaceKind::LostUpdate:
    if (IsOperation)
      return explainOperation(F);
    return guideTo(F.kind())->Meaning;
  case RaceKind::Conflict:
    if (F.First.Flags & OtherBlock)
      return "Another block of the same launch accesses this location, too, "
             "and nothing in the kernel orders its blocks: either of the two "
             "may come first. What a reader gets, or which write remains, is "
             "undefined.";
    if (F.First.Flags & SameInterval)
      return "Another warp of the block accesses this location, too, and "
             "no barrier lies between the two: either of them may come first. "
             "What a reader gets, or which write remains, is undefined.";
    return std::string(guideTo(F.kind())->Meaning) +
           (F.Other && F.Other->IsHost
                ? " Wait for the kernel (cudaDeviceSynchronize, or its stream "
                  "or an event behind it) before the host accesses the memory, "
                  "or launch the kernel behind the host's access."
                : "");
  default:
    return explainIntraWarp(F);
  }
}

/// Said of one side that is half of a plain read-modify-write.
static const char *updateAdvice(const Finding &F) {
  const bool IsUpdate =
      F.Site && !F.Site->IsHost && (F.Site->Flags & IsOfUpdate) &&
      (!F.Other || (F.Other->isOfUpdate() && !F.Other->IsHost));
  return IsUpdate ? " The thread reads the location, changes the value and "
                    "writes it back: where several threads do so, each has to "
                    "by an atomic (atomicAdd, for instance) or under one lock."
                  : "";
}

std::string crsan::explain(const Finding &F) {
  if (!F.Explanation.empty())
    return F.Explanation;
  switch (F.kind()) {
  case RaceKind::None:
    break;
  case RaceKind::ClobberedRead:
  case RaceKind::LostUpdate:
  case RaceKind::Conflict:
  case RaceKind::IntraWarpLostUpdate:
  case RaceKind::IntraWarpConflict:
    return explainOneSide(F) + updateAdvice(F);
  case RaceKind::ImproperLock:
  case RaceKind::AtomicScope:
  case RaceKind::WarpBarrier:
  case RaceKind::IntraBlock:
  case RaceKind::InterBlock:
  case RaceKind::NotStrong:
  case RaceKind::InterKernel:
  case RaceKind::StreamOperation:
  case RaceKind::HostAccess:
  case RaceKind::BarrierDivergence:
  case RaceKind::ProxyFence:
    return whatIsMissing(F);
  }
  return "This CRSan does not know the kind of this race.";
}
