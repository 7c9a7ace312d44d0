// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One finding for one bug.
#include "Folding.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

using namespace crsan;

/// The lines of a side, calls that were inlined included; empty: not known.
static std::string linesOf(const std::optional<SiteInfo> &Site) {
  if (!Site || Site->Frames.empty() || Site->Frames.front().Line == 0)
    return {};
  std::string Lines;
  for (const SourceFrame &F : Site->Frames)
    fmt::format_to(std::back_inserter(Lines), "|{}:{}:{}", F.File, F.Line,
                   F.Line ? "" : F.Function);
  return Lines;
}

/// What tells memory apart: a variable's name, or an allocation. Empty: it is
/// not known.
static std::string memoryOf(const Finding &F) {
  if (F.Site && F.Site->Variable)
    return F.Site->Variable->LinkageName;
  // "byte 12 of 64 bytes from cudaMalloc (allocation 2)"; "part[3]
  // (__shared__)".
  if (const size_t From = F.Memory.find(" from "); From != F.Memory.npos)
    return F.Memory.substr(From);
  return F.Memory.substr(0, F.Memory.find_first_of("[ "));
}

namespace {
/// What a reader takes a bug for: two lines, the smaller text first (the same
/// twice if one is known), and the memory.
struct BugKey {
  std::string A, B;
  abi::Space Space = abi::Space::Generic;
  std::string Memory;

  auto operator<=>(const BugKey &) const = default;
};
} // namespace

static bool knowsBothSides(const Finding &F) {
  return F.Other && (F.isTwoSided() || F.First.Other);
}

static BugKey keyOf(const Finding &F) {
  BugKey Key = {linesOf(F.Site), linesOf(F.Other), F.space(), memoryOf(F)};
  if (F.First.Other && !F.Other)
    Key.B = fmt::format("#{:x}", F.First.Other);
  else if (!knowsBothSides(F))
    Key.B = Key.A;
  if (Key.B < Key.A)
    std::swap(Key.A, Key.B);
  return Key;
}

/// How much a finding says: what was missing between two sides, two sides, one
/// side, and last what may be mended for the lanes of one warp alone.
static int rankOf(const Finding &F) {
  if (F.isTwoSided())
    return F.reasons() & abi::SameWarp ? 3 : 4;
  if (isIntraWarp(F.kind()))
    return 0;
  return F.First.Other ? 2 : 1;
}

template <typename T>
static void addEach(std::vector<T> &To, const std::vector<T> &From) {
  for (const T &Item : From)
    if (std::find(To.begin(), To.end(), Item) == To.end())
      To.push_back(Item);
}

/// Counts what `From` has counted into `To`, which is shown.
static void fold(Finding &To, const Finding &From) {
  const uint64_t Room = std::numeric_limits<uint64_t>::max() - To.Count;
  To.AtLeast |= From.AtLeast || From.Count > Room;
  To.Count += std::min(From.Count, Room);
  addEach(To.Devices, From.Devices);
  addEach(To.Runs, From.Runs);
  addEach(To.Instances, From.Instances);
  addEach(To.OtherKinds, From.OtherKinds);
  addEach(To.OtherKinds, {From.kind()});
  std::erase(To.OtherKinds, To.kind());
  for (const auto &[Block, Records] : From.Places.Blocks)
    To.Places.Blocks[Block] += Records;
  for (size_t Lane = 0; Lane < To.Places.Lanes.size(); ++Lane)
    To.Places.Lanes[Lane] += From.Places.Lanes[Lane];
  std::sort(To.Runs.begin(), To.Runs.end());
}

/// Folds findings whose keys are equal; the one that says most remains.
static void foldEqual(std::vector<Finding> &Findings) {
  std::map<BugKey, size_t> Known;
  std::vector<Finding> Left;
  for (Finding &F : Findings) {
    const BugKey Key = keyOf(F);
    // A race at the line of a fault is another bug.
    const bool HasLines = !Key.A.empty() && !F.isFault();
    auto [It, IsNew] = HasLines ? Known.try_emplace(Key, Left.size())
                                : std::pair(Known.end(), true);
    if (IsNew) {
      Left.push_back(std::move(F));
      continue;
    }
    Finding &Shown = Left[It->second];
    if (std::tuple(rankOf(F), F.Count) > std::tuple(rankOf(Shown), Shown.Count))
      std::swap(F, Shown);
    fold(Shown, F);
  }
  Findings = std::move(Left);
}

/// Of a finding that knows one side: the most frequent finding that names the
/// same line and another one, or null.
static Finding *explanationOf(const Finding &F,
                              std::vector<Finding> &Findings) {
  const std::string Line = linesOf(F.Site);
  Finding *Best = nullptr;
  if (Line.empty() || rankOf(F) != 1 || F.isFault())
    return nullptr;
  for (Finding &G : Findings)
    if (rankOf(G) >= 2 && G.space() == F.space() &&
        memoryOf(G) == memoryOf(F) &&
        (linesOf(G.Site) == Line || linesOf(G.Other) == Line) &&
        (!Best || G.Count > Best->Count))
      Best = &G;
  return Best;
}

/// Folds findings that know one side into those that know two.
static void foldOneSided(std::vector<Finding> &Findings) {
  std::vector<Finding *> Into;
  for (const Finding &F : Findings)
    Into.push_back(explanationOf(F, Findings));
  for (size_t I = 0; I < Findings.size(); ++I)
    if (Into[I])
      fold(*Into[I], Findings[I]);
  size_t I = 0;
  std::erase_if(Findings,
                [&](const Finding &) { return Into[I++] != nullptr; });
}

void crsan::foldFindings(std::vector<Finding> &Findings) {
  foldEqual(Findings);
  foldOneSided(Findings);
}
