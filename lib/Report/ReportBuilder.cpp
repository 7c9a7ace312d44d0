// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings, of records.
#include "Folding.h"
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

/// Equal for sites that are one place for the reader. Names of functions do not
/// tell places apart, for instances of a template differ in nothing else.
static std::string placeOf(uint64_t Id, const SiteInfo *Site) {
  if (!Site || Site->Frames.empty() || Site->Frames.front().Line == 0)
    return fmt::format("#{:x}", Id);
  std::string Place =
      fmt::format("{}{}", Site->IsHost ? "host " : "", int(Site->Access));
  for (const SourceFrame &F : Site->Frames) {
    fmt::format_to(std::back_inserter(Place), "|{}:{}:{}", F.File, F.Line,
                   F.Column);
    if (F.Line == 0)
      Place += F.Function;
  }
  return Place;
}

/// Which of two records says more: the wider distance of the threads, which any
/// schedule shows; then the more specific kind.
static std::pair<int, int> weightOf(const abi::Record &Rec) {
  using enum abi::RaceKind;
  const uint64_t Why = Rec.After;
  const int Width = Rec.Kind == InterKernel || Rec.Kind == StreamOperation ||
                            Rec.Kind == HostAccess
                        ? 3
                    : Rec.Kind == WarpBarrier || Why & abi::SameWarp ? 0
                    : Rec.Kind == IntraBlock || Why & abi::SameBlock ? 1
                                                                     : 2;
  return {Width, -int(Rec.Kind)};
}

/// Whether a record is one that can be printed; others are damaged.
static bool isKnown(const Occurrence &O) {
  const abi::Record &Rec = O.Rec;
  // No device records a fault.
  return O.Fault.empty() == (Rec.Kind != KernelFault) &&
         wordsOf(Rec.Kind).Kind != abi::RaceKind::None &&
         hasTwoSides(Rec.Kind) == bool(Rec.Flags & abi::TwoSided);
}

/// Equal for records of one finding. Which of two sides came first, and how far
/// apart the threads were, is chance: neither tells two-sided findings apart.
static std::string keyOf(const Occurrence &O, const SiteInfo *Site,
                         const SiteInfo *Other) {
  const abi::Record &Rec = O.Rec;
  const std::string A = placeOf(Rec.Site, Site), B = placeOf(Rec.Other, Other);
  if (Rec.Flags & abi::TwoSided)
    return fmt::format("two {} / {}", std::min(A, B), std::max(A, B));
  return fmt::format("{}{} {} / {}", int(Rec.Kind), O.Fault, A, B);
}

template <typename T> static void addOnce(std::vector<T> &List, const T &Item) {
  if (std::find(List.begin(), List.end(), Item) == List.end())
    List.push_back(Item);
}

/// Makes the item the first one.
template <typename T>
static void putFirst(std::vector<T> &List, const T &Item) {
  std::erase(List, Item);
  List.insert(List.begin(), Item);
}

/// Whether the sides of the record are those of the finding the other way
/// round.
static bool isSwapped(const Finding &F, const abi::Record &Rec,
                      const SiteInfo *Site) {
  return F.isTwoSided() &&
         placeOf(Rec.Site, Site) !=
             placeOf(F.First.Site, F.Site ? &*F.Site : nullptr);
}

/// The kernel, or, where that is not known, the outermost function.
static std::string instanceOf(const SiteInfo *Site) {
  if (!Site || !Site->Operation.empty())
    return {};
  if (!Site->Kernel.empty() || Site->Frames.empty())
    return Site->Kernel;
  return Site->Frames.back().Function;
}

/// The lanes that the record names, or else the lane of its thread, if the
/// block's shape is known.
static uint32_t lanesOf(const Occurrence &O) {
  if (O.Rec.Lanes)
    return O.Rec.Lanes;
  const auto [X, Y, Z] = threadIndex(O.Rec);
  const Index3 &Shape = O.BlockShape;
  if (Shape[0] == 0)
    return 0;
  return 1u << ((Z * Shape[1] + Y) * Shape[0] + X) % 32;
}

static void add(RecordPlaces &Places, const Occurrence &O,
                const SiteInfo *Site) {
  if (O.Rec.Kind == abi::RaceKind::StreamOperation ||
      O.Rec.Kind == abi::RaceKind::HostAccess ||
      (Site && (Site->IsHost || !Site->Operation.empty())))
    return; // The record may have no thread of the program's.
  const auto &Block = O.Rec.Block;
  ++Places.Blocks[{Block[0], Block[1], Block[2]}];
  for (uint32_t Lanes = lanesOf(O), Lane = 0; Lane < 32; ++Lane)
    Places.Lanes[Lane] += Lanes >> Lane & 1;
}

/// Counts one more occurrence into the finding of its place; `Site` is the
/// accused side.
static void merge(Finding &F, const Occurrence &O, const SiteInfo *Site) {
  const uint64_t Count = std::max<uint64_t>(O.Count, 1);
  const uint64_t Room = std::numeric_limits<uint64_t>::max() - F.Count;
  F.Count += std::min(Count, Room);
  F.AtLeast |= O.AtLeast || Count > Room;
  addOnce(F.Devices, O.Device);
  addOnce(F.Runs, O.Run);
  add(F.Places, O, Site);
  if (O.Rec.Kind != F.kind())
    addOnce(F.OtherKinds, O.Rec.Kind);
  if (const std::string Instance = instanceOf(Site); !Instance.empty())
    addOnce(F.Instances, Instance);
}

/// Shows this occurrence, of the same finding, in the place of the first one.
static void show(Finding &F, const Occurrence &O, const SiteTable &Sites) {
  const SiteInfo *Site = Sites.find(O.Rec.Site);
  const SiteInfo *Other = O.Rec.Other ? Sites.find(O.Rec.Other) : nullptr;
  if (isSwapped(F, O.Rec, Site)) {
    std::swap(F.AlsoSite, F.AlsoOther);
    F.Instances.clear(); // Those of the other side.
  }
  if (O.Rec.Kind != F.kind() && F.kind() != abi::RaceKind::None)
    putFirst(F.OtherKinds, F.kind());
  std::erase(F.OtherKinds, O.Rec.Kind);
  F.First = O.Rec;
  F.Grid = O.Grid;
  F.BlockShape = O.BlockShape;
  F.EarlierGrid = O.EarlierGrid;
  F.EarlierBlockShape = O.EarlierBlockShape;
  F.Explanation = O.Explanation;
  F.Fault = O.Fault;
  F.Told.clear();
  for (uint64_t Id : O.Told)
    if (const SiteInfo *Told = Sites.find(Id))
      F.Told.push_back(*Told);
  F.Memory = O.Memory;
  F.AllocatedAt = O.AllocatedAt;
  F.LaunchedAt = O.LaunchedAt;
  F.HostWroteAt = O.HostWroteAt;
  // What an access in assembly accesses, the other side may know.
  for (const SiteInfo *Side : {Site, Other})
    if (F.Memory.empty() && Side && Side->Variable)
      F.Memory = variableWords(*Side->Variable);
  F.Site = Site ? std::optional(*Site) : std::nullopt;
  F.Other = Other ? std::optional(*Other) : std::nullopt;
  putFirst(F.Devices, O.Device);
  if (const std::string Instance = instanceOf(Site); !Instance.empty())
    putFirst(F.Instances, Instance);
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

/// Where the later thread may have been told of what it raced with.
static void addTold(Finding &F, const SiteTable &Sites) {
  if (!F.Told.empty() || !(F.reasons() & abi::LaterUnfenced) || !F.Site ||
      F.Site->Kernel.empty())
    return;
  for (const SiteInfo *Site : Sites.strongReadsOf(F.Site->Kernel))
    if ((F.reasons() & abi::SameBlock) || Site->Scope != abi::Scope::Block)
      F.Told.push_back(*Site);
}

/// Of the collider's findings, whose kinds are apart.
static void markWider(std::vector<Finding> &Findings) {
  const auto PlaceOfSite = [](const Finding &F) {
    return placeOf(F.First.Site, F.Site ? &*F.Site : nullptr);
  };
  std::set<std::string> Wider;
  for (const Finding &F : Findings) {
    if (F.isTwoSided() || isIntraWarp(F.kind()) || F.isFault())
      continue;
    Wider.insert(PlaceOfSite(F));
    if (F.First.Other)
      Wider.insert(placeOf(F.First.Other, F.Other ? &*F.Other : nullptr));
  }
  // Lanes of one warp, too, may find each other's writes in that way.
  const auto HasOtherWarps = [](const Finding &F) {
    uint64_t Threads = 1;
    for (unsigned D = 0; D < 3; ++D)
      Threads *= uint64_t(F.Grid[D]) * F.BlockShape[D];
    return Threads == 0 || Threads > 32;
  };
  for (Finding &F : Findings)
    F.HasWider = isIntraWarp(F.kind()) && HasOtherWarps(F) &&
                 Wider.contains(PlaceOfSite(F));
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
                          const SiteTable &Sites, RunSummary Summary,
                          std::vector<RunInfo> Runs) {
  Report R;
  R.Summary = std::move(Summary);
  R.Runs = std::move(Runs);
  std::unordered_map<std::string, size_t> Places;
  size_t Damaged = 0;
  for (const Occurrence &O : Occurrences) {
    const abi::Record &Rec = O.Rec;
    if (!isKnown(O)) {
      ++Damaged;
      continue;
    }
    const SiteInfo *Site = Sites.find(Rec.Site);
    const SiteInfo *Other = Rec.Other ? Sites.find(Rec.Other) : nullptr;
    auto [It, IsNew] =
        Places.try_emplace(keyOf(O, Site, Other), R.Findings.size());
    if (IsNew)
      show(R.Findings.emplace_back(), O, Sites);
    Finding &F = R.Findings[It->second];
    if (F.isTwoSided() && weightOf(Rec) > weightOf(F.First))
      show(F, O, Sites);
    const bool Swapped = isSwapped(F, Rec, Site);
    merge(F, O, Swapped ? Other : Site);
    if (F.isTwoSided() && Site && Other)
      addCompanions(F, Swapped ? *Other : *Site, Swapped ? *Site : *Other);
  }
  for (Finding &F : R.Findings) {
    addTold(F, Sites);
    std::sort(F.Runs.begin(), F.Runs.end());
  }
  // Of findings that say the same, the first one is shown.
  std::sort(R.Findings.begin(), R.Findings.end(), comesFirst);
  foldFindings(R.Findings);
  markWider(R.Findings);
  dropKnown(R.Findings);
  std::sort(R.Findings.begin(), R.Findings.end(), comesFirst);
  if (Damaged)
    R.Summary.Notes.push_back(fmt::format(
        "{} race record{} damaged and not shown; the program may have written "
        "out of bounds, check it with compute-sanitizer",
        Damaged, Damaged == 1 ? " is" : "s are"));
  return R;
}
