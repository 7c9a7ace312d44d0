// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What several runs recorded, in one file.
#include "Report/ReportFile.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

using namespace crsan;

static void addCount(uint64_t &Sum, uint64_t More) {
  const uint64_t Room = std::numeric_limits<uint64_t>::max() - Sum;
  Sum += std::min(More, Room);
}

template <typename T> static void keepLargest(T &Value, T Other) {
  Value = std::max(Value, Other);
}

static void addReason(std::string &Sum, const std::string &More) {
  if (Sum.empty())
    Sum = More;
  else if (!More.empty() && Sum.find(More) == std::string::npos)
    Sum += "; " + More;
}

static void add(MetadataSummary &Sum, const MetadataSummary &More) {
  addCount(Sum.Checked, More.Checked);
  addCount(Sum.Unchecked, More.Unchecked);
  keepLargest(Sum.Sites, More.Sites);
  addReason(Sum.WhyUnchecked, More.WhyUnchecked);
  addCount(Sum.GridsLeftOut, More.GridsLeftOut);
  addCount(Sum.BlocksLeftOut, More.BlocksLeftOut);
  addCount(Sum.GridsStopped, More.GridsStopped);
  addCount(Sum.RacesUntold, More.RacesUntold);
  keepLargest(Sum.Exact, More.Exact);
  keepLargest(Sum.Cached, More.Cached);
  keepLargest(Sum.None, More.None);
}

static void add(HostSummary &Sum, const HostSummary &More) {
  keepLargest(Sum.Sites, More.Sites);
  addCount(Sum.Executed, More.Executed);
  addCount(Sum.Checked, More.Checked);
  addCount(Sum.Refused, More.Refused);
  addCount(Sum.Noted, More.Noted);
  addCount(Sum.Judged, More.Judged);
  keepLargest(Sum.Skipped, More.Skipped);
  keepLargest(Sum.Exempt, More.Exempt);
}

static void add(OracleSummary &Sum, const OracleSummary &More) {
  addCount(Sum.Grids, More.Grids);
  addCount(Sum.Blocks, More.Blocks);
  addCount(Sum.Threads, More.Threads);
  addCount(Sum.Accesses, More.Accesses);
  addCount(Sum.Fences, More.Fences);
  addCount(Sum.Barriers, More.Barriers);
  addCount(Sum.Copies, More.Copies);
  addCount(Sum.Exempt, More.Exempt);
  addCount(Sum.HostAccesses, More.HostAccesses);
}

/// Adds a part that a run need not have.
template <typename T>
static void addPart(std::optional<T> &Sum, const std::optional<T> &More) {
  if (Sum && More)
    add(*Sum, *More);
  else if (More)
    Sum = More;
}

void RunSummary::add(const RunSummary &More) {
  addCount(KernelsLaunched, More.KernelsLaunched);
  addCount(KernelsFailed, More.KernelsFailed);
  addCount(KernelsNotInstrumented, More.KernelsNotInstrumented);
  addCount(KernelsSwitchedOff, More.KernelsSwitchedOff);
  addCount(KernelsLeftOut, More.KernelsLeftOut);
  addCount(KernelsByTwins, More.KernelsByTwins);
  keepLargest(Sites, More.Sites);
  keepLargest(Windows, More.Windows);
  addCount(Checks, More.Checks);
  addCount(WindowsChecked, More.WindowsChecked);
  addCount(OperationsChecked, More.OperationsChecked);
  addCount(OperationsUnchecked, More.OperationsUnchecked);
  addReason(WhyOperationsUnchecked, More.WhyOperationsUnchecked);
  addCount(DroppedRecords, More.DroppedRecords);
  keepLargest(SkippedAccesses, More.SkippedAccesses);
  keepLargest(ExemptAccesses, More.ExemptAccesses);
  keepLargest(Suppressed, More.Suppressed);
  keepLargest(DelayNs, More.DelayNs);
  keepLargest(Budget, More.Budget);
  keepLargest(WarpOneIn, More.WarpOneIn);
  keepLargest(MaxInterval, More.MaxInterval);
  keepLargest(Overhead, More.Overhead);
  CountsComplete &= More.CountsComplete;
  Shuffled |= More.Shuffled;
  IsSimulated &= More.IsSimulated;
  AddsChecks |= More.AddsChecks;
  IsUnheard |= More.IsUnheard;
  addCount(Processes, More.Processes);
  keepLargest(Modules, More.Modules);
  addPart(Metadata, More.Metadata);
  addPart(Host, More.Host);
  addPart(Oracle, More.Oracle);
  for (const std::string &Note : More.Notes)
    if (std::find(Notes.begin(), Notes.end(), Note) == Notes.end())
      Notes.push_back(Note);
}

void ReportFile::add(const ReportFile &Other) {
  std::unordered_map<uint64_t, uint64_t> Renamed;
  Other.Sites.forEach([&](const SiteInfo &Site) {
    if (const uint64_t Id = Sites.addForeign(Site); Id != Site.Id)
      Renamed.emplace(Site.Id, Id);
  });
  const auto Rename = [&](uint64_t &Id) {
    if (auto It = Renamed.find(Id); It != Renamed.end())
      Id = It->second;
  };
  // A file that says nothing of its runs is one.
  if (Runs.empty())
    Runs.push_back({.Seed = Summary.Seed});
  const uint32_t FirstRun = uint32_t(Runs.size());
  for (Occurrence O : Other.Occurrences) {
    Rename(O.Rec.Site);
    Rename(O.Rec.Other);
    for (uint64_t &Id : O.Told)
      Rename(Id);
    O.Run += FirstRun;
    Occurrences.push_back(std::move(O));
  }
  if (Other.Runs.empty())
    Runs.push_back({.Seed = Other.Summary.Seed});
  Runs.insert(Runs.end(), Other.Runs.begin(), Other.Runs.end());
  Summary.add(Other.Summary);
  addCoverage(Checked, Other.Checked);
}

void ReportFile::becomeOneRun(RunInfo Run) {
  for (Occurrence &O : Occurrences)
    O.Run = 0;
  Runs = {std::move(Run)};
}

ReportFile crsan::recordOf(std::span<const Occurrence> Occurrences,
                           const SiteTable &Sites, RunSummary Summary,
                           std::vector<RunInfo> Runs) {
  ReportFile File;
  File.Occurrences.assign(Occurrences.begin(), Occurrences.end());
  File.Summary = std::move(Summary);
  File.Runs = std::move(Runs);
  const auto Add = [&](uint64_t Id) {
    if (const SiteInfo *Site = Id ? Sites.find(Id) : nullptr)
      File.Sites.add(*Site);
  };
  for (const Occurrence &O : Occurrences) {
    Add(O.Rec.Site);
    Add(O.Rec.Other);
    for (uint64_t Id : O.Told)
      Add(Id);
  }
  // What may have told the later thread; see Finding::Told.
  for (const Finding &F : crsan::buildReport(Occurrences, Sites, {}).Findings)
    for (const SiteInfo &Site : F.Told)
      File.Sites.add(Site);
  return File;
}

Report crsan::buildReport(const ReportFile &File) {
  Report R = buildReport(File.Occurrences, File.Sites, File.Summary, File.Runs);
  R.Checked = File.Checked;
  return R;
}
