//===- Finding.cpp - What a run found, ready to be printed ----------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report/Finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <unordered_map>

using namespace crsan;

std::array<uint32_t, 3> Finding::thread() const {
  const uint32_t T = First.Thread;
  return {T & 0x3ff, T >> 10 & 0x3ff, T >> 20 & 0x3f};
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
    if (Summary.Sites == 0 && Summary.SkippedAccesses == 0)
      return Verdict::Clean;
    const bool Lost = Summary.Sites && !Summary.CountsComplete;
    return Lost ? Verdict::NotKnown : Verdict::NothingChecked;
  }
  if (Summary.KernelsLaunched == 0)
    return Verdict::NotKnown;
  return Verdict::Clean;
}

bool Report::hasWarnings() const {
  return Summary.KernelsFailed || Summary.DroppedRecords ||
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

static bool isKnown(abi::RaceKind Kind) {
  switch (Kind) {
  case abi::RaceKind::ClobberedRead:
  case abi::RaceKind::LostUpdate:
  case abi::RaceKind::IntraWarpLostUpdate:
  case abi::RaceKind::IntraWarpConflict:
  case abi::RaceKind::Conflict:
    return true;
  case abi::RaceKind::None:
    return false;
  }
  return false;
}

template <typename T> static void addOnce(std::vector<T> &List, const T &Item) {
  if (std::find(List.begin(), List.end(), Item) == List.end())
    List.push_back(Item);
}

/// Counts one more occurrence into the finding of its place.
static void merge(Finding &F, const Occurrence &O, const SiteInfo *Site) {
  const uint64_t Count = std::max<uint64_t>(O.Count, 1);
  const uint64_t Room = std::numeric_limits<uint64_t>::max() - F.Count;
  F.Count += std::min(Count, Room);
  F.AtLeast |= O.AtLeast || Count > Room;
  addOnce(F.Devices, O.Device);
  if (!Site)
    return;
  if (!Site->Kernel.empty())
    addOnce(F.Instances, Site->Kernel);
  else if (!Site->Frames.empty() && !Site->Frames.back().Function.empty())
    addOnce(F.Instances, Site->Frames.back().Function);
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
    if (!isKnown(Rec.Kind)) {
      ++Damaged;
      continue;
    }
    const SiteInfo *Site = Sites.find(Rec.Site);
    const SiteInfo *Other = Rec.Other ? Sites.find(Rec.Other) : nullptr;
    auto [It, IsNew] = Places.try_emplace(
        fmt::format("{} {} / {}", int(Rec.Kind), placeOf(Rec.Site, Site),
                    placeOf(Rec.Other, Other)),
        R.Findings.size());
    if (IsNew) {
      Finding &F = R.Findings.emplace_back();
      F.First = Rec;
      if (Site)
        F.Site = *Site;
      if (Other)
        F.Other = *Other;
    }
    merge(R.Findings[It->second], O, Site);
  }
  std::sort(R.Findings.begin(), R.Findings.end(), comesFirst);
  if (Damaged)
    R.Summary.Notes.push_back(fmt::format(
        "{} race record{} damaged and not shown; the program may have written "
        "out of bounds, check it with compute-sanitizer",
        Damaged, Damaged == 1 ? " is" : "s are"));
  return R;
}
