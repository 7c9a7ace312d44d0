//===- Finding.cpp - What a run found, ready to be printed ----------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report/Finding.h"
#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>

using namespace crsan;

Index3 Finding::thread() const {
  const uint32_t T = First.Thread;
  return {T & 0x3ff, T >> 10 & 0x3ff, T >> 20 & 0x3f};
}

uint64_t Finding::reasons() const {
  if (!isTwoSided())
    return 0;
  uint64_t Reasons = First.After;
  if (kind() == abi::RaceKind::InterKernel)
    Reasons |= abi::OtherGrid;
  if (Reasons & abi::SameWarp)
    Reasons |= abi::SameBlock;
  return Reasons;
}

/// The three indices of the `Linear`-th of a box, or nothing if that is not
/// known or lies outside.
static std::optional<Index3> indexIn(const Index3 &Extent, uint64_t Linear) {
  const uint64_t X = Extent[0], Y = Extent[1], Z = Extent[2];
  if (X == 0 || Y == 0 || Linear / X / Y >= Z)
    return std::nullopt;
  return Index3{uint32_t(Linear % X), uint32_t(Linear / X % Y),
                uint32_t(Linear / X / Y)};
}

EarlierThread Finding::earlierThread() const {
  EarlierThread T;
  const bool OtherGrid = reasons() & abi::OtherGrid;
  T.Linear = First.Before & 0xffff;
  // Extent and shape are of the later thread's grid.
  if (!OtherGrid)
    T.Index = indexIn(BlockShape, T.Linear);
  if (reasons() & abi::SameBlock) {
    T.BlockIndex = {First.Block[0], First.Block[1], First.Block[2]};
    return T;
  }
  const uint64_t Block = First.Before >> 16;
  if (Block == abi::UnknownBlock)
    return T;
  T.Block = Block;
  if (!OtherGrid)
    T.BlockIndex = indexIn(Grid, Block);
  return T;
}

abi::Space Finding::space() const {
  if (First.MemorySpace == abi::Space::Generic && Site)
    return Site->Space;
  return First.MemorySpace;
}

uint32_t Finding::size() const {
  return Site && Site->Size ? Site->Size : First.Size;
}

bool Finding::sizeIsLowerBound() const {
  return !(Site && Site->Size) && First.Size == 255;
}

Verdict Report::verdict() const {
  if (!Findings.empty())
    return Verdict::Racy;
  if (Summary.Checks == 0) {
    if (Summary.KernelsLaunched == 0)
      return Verdict::NothingChecked;
    // Code that shares memory by atomics alone has nothing to check.
    if (Summary.Sites == 0 && Summary.SkippedAccesses == 0 &&
        Summary.ExemptAccesses == 0)
      return Verdict::Clean;
    const bool Lost = Summary.Sites && !Summary.CountsComplete;
    return Lost ? Verdict::NotKnown : Verdict::NothingChecked;
  }
  if (Summary.KernelsLaunched == 0)
    return Verdict::NotKnown;
  return Verdict::Clean;
}

bool Report::hasWarnings() const {
  return Summary.KernelsFailed || Summary.KernelsNotInstrumented ||
         Summary.KernelsSwitchedOff || Summary.DroppedRecords ||
         Summary.SkippedAccesses || Suppressed ||
         (Summary.Metadata && Summary.Metadata->Unchecked) ||
         !Summary.Notes.empty();
}

/// Equal for sites that are one place for the reader. Names of functions do not
/// tell places apart, for instances of a template differ in nothing else.
static std::string placeOf(uint64_t Id, const SiteInfo *Site) {
  if (!Site || Site->Frames.empty() || Site->Frames.front().Line == 0)
    return fmt::format("#{:x}", Id);
  std::string Place = fmt::format("{}", int(Site->Access));
  for (const SourceFrame &F : Site->Frames) {
    fmt::format_to(std::back_inserter(Place), "|{}:{}:{}", F.File, F.Line,
                   F.Column);
    if (F.Line == 0)
      Place += F.Function;
  }
  return Place;
}

bool crsan::hasTwoSides(abi::RaceKind Kind) {
  switch (Kind) {
  case abi::RaceKind::None:
  case abi::RaceKind::ClobberedRead:
  case abi::RaceKind::LostUpdate:
  case abi::RaceKind::IntraWarpLostUpdate:
  case abi::RaceKind::IntraWarpConflict:
  case abi::RaceKind::Conflict:
    return false;
  case abi::RaceKind::ImproperLock:
  case abi::RaceKind::AtomicScope:
  case abi::RaceKind::WarpBarrier:
  case abi::RaceKind::IntraBlock:
  case abi::RaceKind::InterBlock:
  case abi::RaceKind::NotStrong:
  case abi::RaceKind::InterKernel:
    return true;
  }
  return false;
}

/// Whether a record is one that can be printed; others are damaged.
static bool isKnown(const abi::Record &Rec) {
  return wordsOf(Rec.Kind).Kind != abi::RaceKind::None &&
         hasTwoSides(Rec.Kind) == bool(Rec.Flags & abi::TwoSided);
}

/// Equal for records of one finding. Which of two sides came first, and how far
/// apart the threads were, is chance: neither tells two-sided findings apart.
static std::string keyOf(const abi::Record &Rec, const SiteInfo *Site,
                         const SiteInfo *Other) {
  const std::string A = placeOf(Rec.Site, Site), B = placeOf(Rec.Other, Other);
  if (Rec.Flags & abi::TwoSided)
    return fmt::format("two {} / {}", std::min(A, B), std::max(A, B));
  return fmt::format("{} {} / {}", int(Rec.Kind), A, B);
}

template <typename T> static void addOnce(std::vector<T> &List, const T &Item) {
  if (std::find(List.begin(), List.end(), Item) == List.end())
    List.push_back(Item);
}

/// Whether the sides of the record are those of the finding the other way
/// round.
static bool isSwapped(const Finding &F, const abi::Record &Rec,
                      const SiteInfo *Site) {
  return F.isTwoSided() &&
         placeOf(Rec.Site, Site) !=
             placeOf(F.First.Site, F.Site ? &*F.Site : nullptr);
}

/// Counts one more occurrence into the finding of its place; `Site` is the
/// accused side.
static void merge(Finding &F, const Occurrence &O, const SiteInfo *Site) {
  const uint64_t Count = std::max<uint64_t>(O.Count, 1);
  const uint64_t Room = std::numeric_limits<uint64_t>::max() - F.Count;
  F.Count += std::min(Count, Room);
  F.AtLeast |= O.AtLeast || Count > Room;
  addOnce(F.Devices, O.Device);
  if (O.Rec.Kind != F.kind())
    addOnce(F.OtherKinds, O.Rec.Kind);
  if (!Site)
    return;
  if (!Site->Kernel.empty())
    addOnce(F.Instances, Site->Kernel);
  else if (!Site->Frames.empty() && !Site->Frames.back().Function.empty())
    addOnce(F.Instances, Site->Frames.back().Function);
}

static bool isWrite(abi::AccessKind Access) {
  return Access != abi::AccessKind::Load;
}

/// Whether one of the site's accesses is sure to be a write: a compare-and-swap
/// may have failed.
static bool anyWrites(const SiteInfo &Site) {
  return (isWrite(Site.Access) && !(Site.Flags & abi::IsSwap)) ||
         std::any_of(Site.Companions.begin(), Site.Companions.end(),
                     [](const CompanionInfo &C) { return isWrite(C.Access); });
}

/// The companions of `Site` that conflict with `Other` or one of its own.
static std::vector<CompanionInfo> racingCompanions(const SiteInfo &Site,
                                                   const SiteInfo &Other) {
  std::vector<CompanionInfo> Racing = Site.Companions;
  std::erase_if(Racing, [Any = anyWrites(Other)](const CompanionInfo &C) {
    return C.Frames.empty() || !(isWrite(C.Access) || Any);
  });
  return Racing;
}

/// Companions are those of one record, the one that has most of them: a copy of
/// the place may have others, which did not meet these.
static void addCompanions(Finding &F, const SiteInfo &Site,
                          const SiteInfo &Other) {
  std::vector<CompanionInfo> OfSite = racingCompanions(Site, Other),
                             OfOther = racingCompanions(Other, Site);
  if (OfSite.size() + OfOther.size() <= F.AlsoSite.size() + F.AlsoOther.size())
    return;
  F.AlsoSite = std::move(OfSite);
  F.AlsoOther = std::move(OfOther);
}

/// Equal for accesses that a companion stands for as well.
static std::string lineOf(abi::AccessKind Access,
                          const std::vector<SourceFrame> &Frames) {
  std::string Line = isWrite(Access) ? "w" : "r";
  for (const SourceFrame &F : Frames)
    fmt::format_to(std::back_inserter(Line), "|{}:{}", F.File, F.Line);
  return Line;
}

/// Leaves out the companions that another finding accuses.
static void dropKnown(std::vector<Finding> &Findings) {
  std::set<std::pair<std::string, std::string>> Known;
  for (const Finding &F : Findings)
    if (F.Site && F.Other) {
      const std::string A = lineOf(F.Site->Access, F.Site->Frames);
      const std::string B = lineOf(F.Other->Access, F.Other->Frames);
      Known.insert({A, B});
      Known.insert({B, A});
    }
  const auto Drop = [&](std::vector<CompanionInfo> &From,
                        const SiteInfo &Other) {
    const std::string Line = lineOf(Other.Access, Other.Frames);
    std::erase_if(From, [&](const CompanionInfo &C) {
      return Known.contains({lineOf(C.Access, C.Frames), Line});
    });
  };
  for (Finding &F : Findings)
    if (F.Site && F.Other) {
      Drop(F.AlsoSite, *F.Other);
      Drop(F.AlsoOther, *F.Site);
    }
}

/// Most frequent first; the rest only makes the order a fixed one.
static bool comesFirst(const Finding &A, const Finding &B) {
  if (A.Count != B.Count)
    return A.Count > B.Count;
  // Unknown places last.
  auto Place = [](const Finding &F) {
    static const SourceFrame Nowhere;
    bool Known = F.Site && !F.Site->Frames.empty();
    const SourceFrame &S = Known ? F.Site->Frames.front() : Nowhere;
    return std::tie(S.File, S.Line, S.Column);
  };
  const bool KnownA = !std::get<0>(Place(A)).empty();
  const bool KnownB = !std::get<0>(Place(B)).empty();
  if (KnownA != KnownB)
    return KnownA;
  if (Place(A) != Place(B))
    return Place(A) < Place(B);
  // Two inlined copies of one line, or two writers of one conflict.
  auto Identity = [](const Finding &F) {
    return std::tuple(F.kind(), F.First.Site, F.First.Other);
  };
  return Identity(A) < Identity(B);
}

Report crsan::buildReport(std::span<const Occurrence> Occurrences,
                          const SiteTable &Sites, RunSummary Summary) {
  Report R;
  R.Summary = std::move(Summary);
  std::unordered_map<std::string, size_t> Places;
  size_t Damaged = 0;
  for (const Occurrence &O : Occurrences) {
    const abi::Record &Rec = O.Rec;
    if (!isKnown(Rec)) {
      ++Damaged;
      continue;
    }
    const SiteInfo *Site = Sites.find(Rec.Site);
    const SiteInfo *Other = Rec.Other ? Sites.find(Rec.Other) : nullptr;
    auto [It, IsNew] =
        Places.try_emplace(keyOf(Rec, Site, Other), R.Findings.size());
    if (IsNew) {
      Finding &F = R.Findings.emplace_back();
      F.First = Rec;
      F.Grid = O.Grid;
      F.BlockShape = O.BlockShape;
      if (Site)
        F.Site = *Site;
      if (Other)
        F.Other = *Other;
    }
    Finding &F = R.Findings[It->second];
    const bool Swapped = isSwapped(F, Rec, Site);
    merge(F, O, Swapped ? Other : Site);
    if (F.isTwoSided() && Site && Other)
      addCompanions(F, Swapped ? *Other : *Site, Swapped ? *Site : *Other);
  }
  dropKnown(R.Findings);
  std::sort(R.Findings.begin(), R.Findings.end(), comesFirst);
  if (Damaged)
    R.Summary.Notes.push_back(fmt::format(
        "{} race record{} damaged and not shown; the program may have written "
        "out of bounds, check it with compute-sanitizer",
        Damaged, Damaged == 1 ? " is" : "s are"));
  return R;
}
