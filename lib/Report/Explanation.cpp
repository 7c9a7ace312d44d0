//===- Explanation.cpp - Why a finding is a race, in words ----------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report/Explanation.h"
#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

using namespace crsan;
using namespace crsan::abi; // Reasons and kinds fill the table below.

//===----------------------------------------------------------------------===//
// What was missing between two sides
//===----------------------------------------------------------------------===//

static constexpr uint32_t set(RaceKind Kind) { return 1u << unsigned(Kind); }

namespace {
/// A sentence for records of one of `Kinds` that have all reasons of `With` and
/// none of `Without`.
struct Row {
  uint32_t Kinds;
  uint64_t With;
  uint64_t Without;
  const char *Sentence;
};
} // namespace

static constexpr uint32_t Any = ~0u;

/// The first row that applies is the answer. {earlier} and {later} are the two
/// places, {both} the two together ("line 31 and line 40"), {between} the same
/// after "between", {distance} where the threads are ("in different blocks"),
/// {scope} which atomic has which scope.
///
/// No sentence claims more than the record: the device declares a race only
/// where no path of synchronisation can exist, and the reasons say what there
/// was of one. `EarlierFencedDevice` stands for a fence that is wide enough.
static constexpr Row Rows[] = {
    {set(RaceKind::AtomicScope), 0, 0,
     "{scope}, and the threads are {distance}."},

    {Any, OtherGrid | UnorderedLaunch, 0,
     "No stream, event or synchronisation orders the two kernels: let the "
     "later one's stream wait for an event that is recorded behind the earlier "
     "one, or the host for the earlier one's stream."},
    {Any, OtherGrid, 0,
     "The two kernels run at the same time: no stream or event orders them."},

    {Any, EarlierInFlight, 0,
     "The asynchronous copy at {earlier} was not waited for "
     "(cp.async.wait_group "
     "or wait_all, by the thread that issued it) before {later}."},
    {Any, EarlierWaited | EarlierNoSync, 0,
     "The earlier thread has waited for its asynchronous copy at {earlier}, "
     "which tells no other thread of it: it has executed no fence, barrier or "
     "release since."},

    {set(RaceKind::WarpBarrier), EarlierBarrier, 0,
     "The earlier lane has reached a barrier since {earlier}, but not one that "
     "the later lane has passed before {later}; lanes of a warp do not run in "
     "lockstep."},
    {set(RaceKind::WarpBarrier), 0, 0,
     "No __syncwarp() {between}; lanes of a warp do not run in lockstep."},

    {set(RaceKind::ImproperLock),
     LaterHoldsLock | EarlierUsedLock | EarlierNoSync, 0,
     "Both threads use locks, but the earlier thread has executed no fence, "
     "barrier or release since {earlier}: giving a lock back without one "
     "orders nothing."},
    {set(RaceKind::ImproperLock),
     LaterHoldsLock | EarlierUsedLock | EarlierFencedBlock, EarlierFencedDevice,
     "Both threads use locks, but the earlier thread's fences since {earlier} "
     "have block scope, and the threads are {distance}."},
    {set(RaceKind::ImproperLock), LaterHoldsLock | EarlierUsedLock, 0,
     "Both threads use locks, but no lock that the later thread holds at "
     "{later} protects {earlier}."},
    {set(RaceKind::ImproperLock), LaterHoldsLock, 0,
     "The lock that the later thread holds at {later} is not held at "
     "{earlier}."},
    {set(RaceKind::ImproperLock), EarlierUsedLock, 0,
     "The later thread holds no lock at {later}; the earlier thread used one "
     "around {earlier}."},
    {set(RaceKind::ImproperLock), 0, 0, "No common lock protects {both}."},

    {Any, EarlierNoSync, 0,
     "Nothing orders the two: the earlier thread has executed no fence, "
     "barrier or release since {earlier}."},
    {Any, SameBlock | EarlierBarrier, 0,
     "The earlier thread has reached a barrier since {earlier}, but not one "
     "that the later thread has passed before {later}."},

    {Any, EarlierFencedDevice | LaterAcquired, 0,
     "The earlier thread has executed a fence since {earlier}, and the later "
     "has acquired from another thread, but nothing leads from the one to the "
     "other."},
    {Any, EarlierFencedDevice, 0,
     "The earlier thread has executed a fence since {earlier}, but the later "
     "has acquired nothing."},
    {Any, EarlierFencedBlock, 0,
     "{both} are ordered only by a fence of block scope, but the threads are "
     "{distance}."},
    {Any, EarlierBarrier, 0,
     "{both} are ordered only by a barrier of one block, but the threads are "
     "{distance}."},

    // What synchronises and is neither a fence nor a barrier is a release.
    {Any, LaterAcquired, 0,
     "The earlier thread has released since {earlier}, and the later has "
     "acquired from another thread, but nothing leads from the one to the "
     "other."},
    {Any, 0, 0,
     "The earlier thread has released since {earlier}, but the later has "
     "acquired nothing."},
};

static std::string_view fileOf(const std::optional<SiteInfo> &Site) {
  if (!Site || Site->Frames.empty() || frameToName(Site->Frames).Line == 0)
    return {};
  return frameToName(Site->Frames).File;
}

static uint32_t lineOf(const std::optional<SiteInfo> &Site) {
  return frameToName(Site->Frames).Line;
}

/// "line 31", or "kernel.cu:31" where the other side is in another file.
static std::string placeWords(const std::optional<SiteInfo> &Site,
                              const std::optional<SiteInfo> &Other,
                              const char *IfUnknown) {
  const std::string_view File = fileOf(Site);
  if (File.empty())
    return IfUnknown;
  if (fileOf(Other).empty() || fileOf(Other) == File)
    return fmt::format("line {}", lineOf(Site));
  return fmt::format("{}:{}", File.substr(File.rfind('/') + 1), lineOf(Site));
}

namespace {
/// The words of a finding that sentences are made of.
struct Places {
  std::string Earlier, Later;
  std::string Both;    ///< "line 31 and line 40", "both accesses at line 31".
  std::string Between; ///< The same after "between".
};
} // namespace

static Places placesOf(const Finding &F) {
  Places P;
  P.Earlier = placeWords(F.Other, F.Site, "the earlier access");
  P.Later = placeWords(F.Site, F.Other, "the later access");
  if (P.Earlier == P.Later) {
    P.Both = "the two accesses at " + P.Later;
    P.Between = "between " + P.Both;
    return P;
  }
  // In the order of the source, for that is how it is read.
  const bool OneFile =
      !fileOf(F.Site).empty() && fileOf(F.Site) == fileOf(F.Other);
  const bool LaterFirst = OneFile && lineOf(F.Site) < lineOf(F.Other);
  P.Both = LaterFirst ? P.Later + " and " + P.Earlier
                      : P.Earlier + " and " + P.Later;
  P.Between = "between " + P.Both;
  return P;
}

/// Whether the access is strong for some threads of the device only.
static bool isNarrow(const std::optional<SiteInfo> &Site) {
  return Site && (Site->isStrong() || Site->isAtomic()) &&
         Site->Scope < SyncScope::Device;
}

/// The scope that leaves the other thread out; Device if it is not known.
static SyncScope narrowestScope(const Finding &F) {
  SyncScope Least = SyncScope::Device;
  for (const auto &Site : {F.Site, F.Other})
    if (isNarrow(Site))
      Least = std::min(Least, Site->Scope);
  return Least;
}

/// "The atomic update at line 12 has block scope".
static std::string scopeWords(const Finding &F, const Places &P) {
  const SyncScope Least = narrowestScope(F);
  if (Least == SyncScope::Device)
    return "One of the two accesses has a scope that leaves the other thread "
           "out";
  const auto IsLeast = [=](const std::optional<SiteInfo> &Site) {
    return isNarrow(Site) && Site->Scope == Least;
  };
  const auto Who = [](const std::optional<SiteInfo> &Site,
                      const std::string &Place) {
    return Site->Access == AccessKind::Update
               ? "the atomic at " + Place
               : fmt::format("the atomic {} at {}",
                             Site->Access == AccessKind::Load ? "read"
                                                              : "write",
                             Place);
  };
  const std::string Later = IsLeast(F.Site) ? Who(F.Site, P.Later) : "";
  const std::string Earlier = IsLeast(F.Other) ? Who(F.Other, P.Earlier) : "";
  if (Later.empty() || Earlier.empty() || Later == Earlier)
    return fmt::format("{} has {} scope", Later.empty() ? Earlier : Later,
                       nameOf(Least));
  return fmt::format("{} and {} have {} scope", Earlier, Later, nameOf(Least));
}

static const char *distanceWords(const Finding &F) {
  if (F.reasons() & OtherGrid)
    return "in different kernels";
  if (F.reasons() & SameWarp)
    return "in the same warp";
  if (F.reasons() & SameBlock)
    return "in the same block";
  if (F.kind() == RaceKind::AtomicScope &&
      narrowestScope(F) == SyncScope::Cluster)
    return "in different clusters";
  return "in different blocks";
}

/// Said first of a strong access against a weak one.
static std::string weakSide(const Finding &F, const Places &P) {
  const auto IsWeak = [](const std::optional<SiteInfo> &Site) {
    return Site && !Site->isStrong() && !Site->isAtomic();
  };
  if (IsWeak(F.Site) == IsWeak(F.Other))
    return "Only one of the two accesses is volatile or atomic. ";
  const bool IsLater = IsWeak(F.Site);
  return fmt::format("The {} at {} is neither volatile nor atomic. ",
                     accessWords(IsLater ? &*F.Site : &*F.Other),
                     IsLater ? P.Later : P.Earlier);
}

/// As a sentence begins; but the name of a file stays as it is.
static std::string capitalised(std::string Text) {
  if (Text.starts_with("line ") || Text.starts_with("the "))
    Text[0] = char(std::toupper((unsigned char)Text[0]));
  return Text;
}

static std::string whatIsMissing(const Finding &F) {
  uint64_t Reasons = F.reasons();
  // Within a block any fence is wide enough.
  if ((Reasons & SameBlock) && (Reasons & EarlierFencedBlock))
    Reasons |= EarlierFencedDevice;
  const auto *It =
      std::find_if(std::begin(Rows), std::end(Rows), [&](const Row &R) {
        return (R.Kinds & set(F.kind())) && (Reasons & R.With) == R.With &&
               !(Reasons & R.Without);
      });
  const Places P = placesOf(F);
  const std::string Sentence = capitalised(fmt::format(
      fmt::runtime(It->Sentence), fmt::arg("earlier", P.Earlier),
      fmt::arg("later", P.Later), fmt::arg("both", P.Both),
      fmt::arg("between", P.Between), fmt::arg("distance", distanceWords(F)),
      fmt::arg("scope", scopeWords(F, P))));
  return F.kind() == RaceKind::NotStrong ? weakSide(F, P) + Sentence : Sentence;
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

static const char *explainIntraWarp(const Finding &F) {
  if (F.kind() == RaceKind::IntraWarpLostUpdate) {
    if (F.First.Flags & SameValue)
      return "Several lanes of a warp wrote this location with one store; the "
             "values were equal this time, but it is still a data race.";
    return "Several lanes of a warp wrote this location with one store; which "
           "of the values remains is undefined.";
  }
  if (F.Site && F.Site->Access == AccessKind::Store)
    return "Two lanes of a warp wrote this location, each by another store; "
           "lanes do not run in lockstep, so without __syncwarp() between "
           "them either write may be lost.";
  return "One lane of a warp wrote this location and another accesses it "
         "by another instruction; lanes do not run in lockstep, so without "
         "__syncwarp() between them their order is undefined.";
}

std::string crsan::explain(const Finding &F) {
  switch (F.kind()) {
  case RaceKind::None:
    break;
  case RaceKind::ClobberedRead:
    return "A thread was about to read this location when another thread "
           "changed it; no synchronisation orders the two, so it may get "
           "either value.";
  case RaceKind::LostUpdate:
    return "A thread was about to write this location when another thread "
           "changed it; no synchronisation orders the two, so either write may "
           "be lost.";
  case RaceKind::IntraWarpLostUpdate:
  case RaceKind::IntraWarpConflict:
    return explainIntraWarp(F);
  case RaceKind::Conflict:
    return "Two threads were about to access this location at the same time, "
           "and no synchronisation orders the two; what a reader gets, or "
           "which write remains, is undefined.";
  case RaceKind::ImproperLock:
  case RaceKind::AtomicScope:
  case RaceKind::WarpBarrier:
  case RaceKind::IntraBlock:
  case RaceKind::InterBlock:
  case RaceKind::NotStrong:
  case RaceKind::InterKernel:
    return whatIsMissing(F);
  }
  return "This CRSan does not know the kind of this race.";
}
