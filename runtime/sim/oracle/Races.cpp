// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the oracle found.
#include "Races.h"
#include "Report/Words.h"

#include <fmt/format.h>

using namespace crsan::sim;

RaceFinding &Races::of(int32_t Earlier, const std::string &EarlierName,
                       int32_t Later, const std::string &LaterName,
                       bool IsOther) {
  // Copies have no instruction and are told apart by name.
  Key A{Earlier, Earlier == -1 ? EarlierName : "", Later,
        Later == -1 ? LaterName : "", IsOther};
  Key B{Later, std::get<3>(A), Earlier, std::get<1>(A), IsOther};
  const auto [It, IsNew] = Index.try_emplace(std::min(A, B), Findings.size());
  if (IsNew)
    Findings.emplace_back();
  return Findings[It->second];
}

/// "in different blocks".
static const char *distancePhrase(const RaceCircumstances &C) {
  if (C.Earlier.device() != C.Later.device())
    return "on different devices";
  if (C.Earlier.Grid != C.Later.Grid)
    return "in different kernels";
  switch (distance(C.Earlier, C.Later)) {
  case Scope::Block:
    return "in the same block";
  case Scope::Cluster:
    return "in different blocks of a cluster";
  case Scope::Device:
    return C.Earlier.HasCluster ? "in different clusters"
                                : "in different blocks";
  case Scope::System:
    break;
  }
  return "on host and device";
}

/// What of the pair keeps two strong accesses from being morally strong.
static std::string whyNotMorallyStrong(const RaceSide &A, const RaceSide &B,
                                       const RaceCircumstances &C) {
  if (!C.CompletelyOverlap)
    return "Both accesses are strong, but they overlap only in part, so "
           "neither "
           "is atomic for the other.";
  const RaceSide &Narrow = A.Within < B.Within ? A : B;
  return fmt::format(
      "Both accesses are strong, but the {} has {} scope and the "
      "threads are {}.",
      Narrow.isAtomic() ? "atomic"
      : Narrow.writes() ? "write"
                        : "read",
      crsan::nameOf(Narrow.Within), distancePhrase(C));
}

static std::string whatIsMissing(const RaceSide &A, const RaceSide &B,
                                 const RaceCircumstances &C) {
  if (C.LacksProxyFence)
    return "The write comes before the copy, but no fence.proxy.async is "
           "between the two.";
  // A copy that was made last may have been issued before the access.
  if (B.IsAsync && !A.IsAsync)
    return "Nothing orders the access before the start of the asynchronous "
           "copy, and nothing waits for the copy before the access.";
  if (A.IsAsync)
    return "Nothing waits for the asynchronous copy between the two.";
  if (C.MayOverlap)
    return "The one kernel is launched so that it may overlap with the other "
           "(programmatic stream serialisation), and its thread has executed "
           "no griddepcontrol.wait (cudaGridDependencySynchronize()) before.";
  if (B.isHostCode())
    return "The host has not waited for what the GPU does "
           "(cudaDeviceSynchronize(), or its stream or an event behind it).";
  if (A.isHostCode())
    return "The GPU was given this work before the host made its access: let "
           "the host make it before, or wait for the work first.";
  if (A.IsHost || B.IsHost || C.Earlier.Grid != C.Later.Grid)
    return "No stream order, event or host synchronisation orders the two.";
  if (C.Narrow)
    return fmt::format(
        "What synchronises in between (a fence, or an acquire or "
        "release) does not have the scope to order threads {}.",
        distancePhrase(C));
  if (C.Unfenced)
    return "A flag or counter passed from the one thread to the other in "
           "between, but without a fence, or release and acquire, on both "
           "sides.";
  if (C.SameWarp)
    return "No __syncwarp() or barrier between them; lanes of a warp do not "
           "run in lockstep.";
  if (C.Earlier.blockKey() == C.Later.blockKey())
    return "No barrier between them.";
  return fmt::format(
      "The threads are {}, and no release and acquire of a scope "
      "that includes both is between them.",
      distancePhrase(C));
}

std::string crsan::sim::explainRace(const RaceSide &Earlier,
                                    const RaceSide &Later,
                                    const RaceCircumstances &C) {
  std::string Text;
  if (Earlier.isStrong() && Later.isStrong())
    Text = whyNotMorallyStrong(Earlier, Later, C) + ' ';
  else if (Earlier.isAtomic() || Later.isAtomic())
    Text = "Only one of the two accesses is atomic. ";
  return Text + whatIsMissing(Earlier, Later, C);
}
