// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run checked, as text.
#include "SummaryText.h"
#include "Lines.h"
#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

using namespace crsan;

namespace {

class SummaryPrinter : public Lines {
public:
  void runs(const Report &R);
  void processes(const Report &R);
  void warnings(const Report &R);
  void whatWasChecked(const Report &R);
  void whichAccesses(const Coverage &All);
  void summary(const Report &R);

private:
  void whatTheColliderChecked(const Report &R);
  void whatMetadataChecked(const RunSummary &S);
  void whatWasCheckedOfTheHost(const HostSummary &S);
  void whatTheOracleChecked(const OracleSummary &S);
};

} // namespace

/// What to do about kernels that are not instrumented.
static const char *remedyForForeign(const RunSummary &S) {
  if (!S.IsSimulated)
    return S.AddsChecks
               ? "build the source with -fsanitize=cuda-race"
               : "build the source with -fsanitize=cuda-race, or let CRSan put "
                 "checks into the code as it is: crsan run "
                 "--detector=metadata";
  return S.AddsChecks
             ? "build the source with -fsanitize=cuda-race, or let the oracle "
               "look for races, which needs no checks: crsan run --device=sim "
               "--detector=oracle"
             : "build the source with -fsanitize=cuda-race, or let CRSan put "
               "checks into the code as it is: crsan run --device=sim "
               "--detector=metadata";
}

/// How to see which accesses are not checked, whatever compiled them.
static constexpr const char *RemedyForSkipped = "run with crsan run --coverage";

/// Of several runs: how they ended.
void SummaryPrinter::runs(const Report &R) {
  if (R.Runs.size() < 2)
    return;
  std::set<uint32_t> Racy;
  for (const Finding &F : R.Findings)
    Racy.insert(F.Runs.begin(), F.Runs.end());
  std::string Failed;
  uint64_t NumFailed = 0;
  for (const RunInfo &Run : R.Runs) {
    if (Run.Failure.empty() || ++NumFailed > 3)
      continue;
    Failed += fmt::format("{}seed {} ({})", Failed.empty() ? "" : ", ",
                          Run.Seed, Run.Failure);
  }
  if (NumFailed)
    Failed = fmt::format("; {} failed: {}{}", NumFailed, Failed,
                         NumFailed > 3 ? ", ..." : "");
  line("CRSan: {} runs, {} of them with findings{}", R.Runs.size(), Racy.size(),
       Failed);
}

void SummaryPrinter::processes(const Report &R) {
  if (const uint64_t N = R.Summary.Processes; N > std::max(R.Runs.size(), 1ul))
    line("CRSan: {} were checked", counted(N, "process", "processes"));
}

void SummaryPrinter::warnings(const Report &R) {
  const RunSummary &S = R.Summary;
  for (const std::string &Note : S.Notes)
    line("CRSan: {}", Note);
  if (S.KernelsFailed)
    line("CRSan: {} failed and {} not checked",
         counted(S.KernelsFailed, "kernel launch", "kernel launches"),
         S.KernelsFailed == 1 ? "was" : "were");
  if (S.KernelsNotInstrumented)
    line("CRSan: {} not checked; {}",
         counted(S.KernelsNotInstrumented,
                 "launch of a kernel that is not instrumented was",
                 "launches of kernels that are not instrumented were"),
         remedyForForeign(S));
  if (S.KernelsSwitchedOff)
    line("CRSan: {} not checked, for the reason given when its code was loaded",
         counted(S.KernelsSwitchedOff, "launch of an instrumented kernel was",
                 "launches of instrumented kernels were"));
  if (S.KernelsLeftOut)
    line("CRSan: {} left out, as the options kernels or launches ask; races in "
         "{} are not reported",
         counted(S.KernelsLeftOut, "kernel launch was", "kernel launches were"),
         S.KernelsLeftOut == 1 ? "it" : "them");
  if (S.OperationsUnchecked)
    line("CRSan: {} not checked: {}",
         counted(S.OperationsUnchecked, "copy or fill was",
                 "copies and fills were"),
         S.WhyOperationsUnchecked);
  if (S.DroppedRecords)
    line("CRSan: {} not shown, the record buffer was full; repair the races "
         "above and run again",
         counted(S.DroppedRecords, "race is", "races are"));
  if (S.SkippedAccesses)
    line("CRSan: {} not checked; {} to see which and why",
         counted(S.SkippedAccesses, "access of the source is",
                 "accesses of the source are"),
         RemedyForSkipped);
  if (S.ExemptAccesses)
    line("CRSan: {} not checked, as CRSAN_NO_SANITIZE or an ignore list asks",
         counted(S.ExemptAccesses, "access of the source is",
                 "accesses of the source are"));
  if (S.Suppressed)
    line("CRSan: {} not shown, as your suppressions ask",
         counted(S.Suppressed, "finding is", "findings are"));
}

/// "seed 7", or "seeds 0-9" of several runs.
static std::string seedWords(const Report &R) {
  if (R.Runs.size() < 2)
    return fmt::format("seed {}", R.Summary.Seed);
  std::vector<uint32_t> All(R.Runs.size());
  std::iota(All.begin(), All.end(), 0u);
  return "seeds " + seedList(All, R.Runs);
}

/// What the collider left out to save time, of all launches of instrumented
/// kernels; empty: nothing.
static std::string leftToTwins(const RunSummary &S) {
  return S.KernelsByTwins
             ? fmt::format("{} of {}", S.KernelsByTwins,
                           counted(S.KernelsLaunched + S.KernelsByTwins,
                                   "kernel launch", "kernel launches"))
             : "";
}

void SummaryPrinter::whatTheColliderChecked(const Report &R) {
  const RunSummary &S = R.Summary;
  const char *AtLeast = S.CountsComplete ? "" : "at least ";
  std::string Modules =
      S.Modules > 1 ? fmt::format(" of {} modules", S.Modules) : "";
  std::string Sampling = "not sampled";
  if (S.Budget && S.Overhead)
    Sampling = fmt::format("after {} of a window, about {} % more time for "
                           "others",
                           S.Budget, S.Overhead);
  else if (S.Budget)
    Sampling = fmt::format("sampled after {} of a window, down to 1 in {}",
                           S.Budget, S.MaxInterval);
  if (S.WarpOneIn > 1)
    Sampling += fmt::format(", by at most 1 warp in {}", S.WarpOneIn);
  line("CRSan: checked {}: {} in {}{}, {}{} checked, {}, delays up to {} "
       "ns{}, {}{} ({})",
       counted(S.KernelsLaunched, "kernel launch", "kernel launches"),
       counted(S.Sites, "site"), counted(S.Windows, "window"), Modules, AtLeast,
       counted(S.Checks - (S.Metadata ? S.Metadata->Checked : 0), "access",
               "accesses"),
       seedWords(R), S.DelayNs, S.Shuffled ? ", blocks shuffled" : "", AtLeast,
       counted(S.WindowsChecked, "window execution"), Sampling);
  if (const std::string Left = leftToTwins(S); !Left.empty())
    line("CRSan: the collider left out to save time: {}; "
         "CRSAN_OPTIONS=launch_one_in=1 has all launches checked",
         Left);
}

/// What metadata mode left out to save time; empty: nothing.
static std::string leftOut(const RunSummary &S) {
  const MetadataSummary &M = *S.Metadata;
  std::vector<std::string> List;
  if (M.GridsLeftOut)
    List.push_back(fmt::format(
        "{} of {}", M.GridsLeftOut,
        counted(S.KernelsLaunched, "kernel launch", "kernel launches")));
  if (M.BlocksLeftOut)
    List.push_back(fmt::format("{} of {}",
                               counted(M.BlocksLeftOut, "block", "blocks"),
                               M.GridsLeftOut ? "others" : "kernel launches"));
  if (M.GridsStopped)
    List.push_back(fmt::format(
        "the rest of {}",
        counted(M.GridsStopped, "long kernel launch", "long kernel launches")));
  return fmt::format("{}", fmt::join(List, " and "));
}

void SummaryPrinter::whatMetadataChecked(const RunSummary &S) {
  const MetadataSummary &M = *S.Metadata;
  constexpr unsigned MiB = 20;
  line("CRSan: metadata mode checked {}{} of functions with {} in {}; not "
       "checked: {}{}; "
       "memory tracked: {} MiB exactly, {} MiB by a cache, {} MiB not at all",
       !M.GridsStopped    ? S.CountsComplete ? "" : "at least "
       : S.CountsComplete ? "at most "
                          : "about ",
       counted(M.Checked, "access", "accesses"), counted(M.Sites, "site"),
       counted(S.KernelsLaunched, "kernel launch", "kernel launches"),
       M.Unchecked, M.Unchecked ? " (" + M.WhyUnchecked + ")" : "",
       M.Exact >> MiB, M.Cached >> MiB, M.None >> MiB);
  if (const std::string Left = leftOut(S); !Left.empty())
    line("CRSan: metadata mode left out to save time: {}; "
         "CRSAN_OPTIONS=effort=thorough follows all",
         Left);
  if (M.RacesUntold)
    line(
        "CRSan: metadata mode did not tell of what looked like a race {}: a "
        "kernel launch that was not followed, or not to its end, may have "
        "ordered the accesses; a device synchronisation behind that launch, or "
        "CRSAN_OPTIONS=effort=thorough, rules that out",
        counted(M.RacesUntold, "time", "times"));
}

/// Of the accesses that might race, how many were checked, and why the others
/// were not.
void SummaryPrinter::whatWasCheckedOfTheHost(const HostSummary &S) {
  std::vector<std::string> Not;
  const uint64_t Tried = S.Checked + S.Refused;
  if (S.Executed > Tried)
    Not.push_back(fmt::format("{} by sampling", S.Executed - Tried));
  if (S.Refused)
    Not.push_back(fmt::format("{} for lack of time", S.Refused));
  line(
      "CRSan: host code: checked {} of {} of memory that a GPU might be using, "
      "of {}{}",
      S.Checked, counted(S.Executed, "access", "accesses"),
      counted(S.Sites, "site"),
      Not.empty() ? ""
                  : fmt::format("; not checked: {}", fmt::join(Not, ", ")));
  if (S.Noted)
    line("CRSan: host code: judged {} by the order of streams; {} could not be "
         "judged so",
         counted(S.Judged, "access", "accesses"),
         S.Noted - std::min(S.Noted, S.Judged));
  if (S.Skipped || S.Exempt)
    line("CRSan: host code: {} of the source not checked, since the compiler "
         "may have moved them; {} as CRSAN_NO_SANITIZE or an ignore list asks",
         counted(S.Skipped, "access", "accesses"), S.Exempt);
}

void SummaryPrinter::whatTheOracleChecked(const OracleSummary &S) {
  line("CRSan: oracle checked {}: {} of {} in {}, {}, {}, {}",
       counted(S.Grids, "kernel launch", "kernel launches"),
       counted(S.Accesses, "access", "accesses"), counted(S.Threads, "thread"),
       counted(S.Blocks, "block"), counted(S.Barriers, "barrier arrival"),
       counted(S.Fences, "fence"),
       counted(S.Copies, "copy or fill", "copies and fills"));
  if (S.HostAccesses)
    line("CRSan: oracle checked {} of host code",
         counted(S.HostAccesses, "access", "accesses"));
  if (S.Exempt)
    line("CRSan: {} not checked, as annotations ask",
         counted(S.Exempt, "access", "accesses"));
}

/// How many accesses were checked, and each of the others.
void SummaryPrinter::whichAccesses(const Coverage &All) {
  if (All.empty())
    return;
  const CoverageCounts Counts = countCoverage(All);
  line("CRSan: coverage: {} of the source checked, {} not executed in a "
       "checked launch, {} not checked",
       counted(Counts.Checked, "access", "accesses"), Counts.NotExecuted,
       Counts.NotChecked);
  for (const AccessCoverage &A : All)
    if (!A.wasChecked())
      line("    {}{} {}", position(A.Place, ""),
           A.Kernel.empty() ? "" : " in " + A.Kernel,
           A.isCheckable() ? "was not executed"
                           : "is not checked: " + A.NotChecked);
}

void SummaryPrinter::whatWasChecked(const Report &R) {
  const RunSummary &S = R.Summary;
  if (S.Oracle)
    whatTheOracleChecked(*S.Oracle);
  if (S.Oracle && S.KernelsLaunched == 0)
    return;
  if (!R.hasOnlyMetadata())
    whatTheColliderChecked(R);
  if (S.Metadata)
    whatMetadataChecked(S);
  if (S.OperationsChecked)
    line("CRSan: checked {} of streams",
         counted(S.OperationsChecked, "copy or fill", "copies and fills"));
  if (S.Host)
    whatWasCheckedOfTheHost(*S.Host);
  if (!S.CountsComplete)
    line("CRSan: the counts of checks are lower bounds: a context ended before "
         "they could be read");
}

/// Of a run that launched no kernel that was checked. What is said of kernels
/// that ran unchecked has a line of its own, with the remedy.
static std::string whyNoLaunch(const RunSummary &S) {
  const uint64_t Ran = S.KernelsNotInstrumented + S.KernelsSwitchedOff;
  if (S.KernelsFailed)
    return Ran ? "some kernel launches failed, and the others are not checked"
               : "every kernel launch failed";
  if (S.KernelsSwitchedOff)
    return "the checks of the launched kernels could not be switched on";
  if (S.KernelsLeftOut)
    return "every launch of an instrumented kernel was left out, as the "
           "options "
           "kernels or launches ask";
  if (S.KernelsByTwins)
    return fmt::format("the collider left out to save time: {}; set "
                       "CRSAN_OPTIONS=launch_one_in=1 to have all launches "
                       "checked",
                       leftToTwins(S));
  if (S.KernelsNotInstrumented)
    return fmt::format("no instrumented kernel was launched; {}",
                       remedyForForeign(S));
  return "no kernel was launched"; // Whatever code was loaded.
}

static std::string whyNothingChecked(const RunSummary &S) {
  if (S.Oracle)
    return S.Oracle->Exempt  ? "annotations exempt all accesses"
           : S.Oracle->Grids ? "the kernels accessed no memory"
                             : "no kernel was launched";
  if (S.KernelsLaunched == 0)
    return whyNoLaunch(S);
  if (S.Sites == 0 && S.SkippedAccesses)
    return fmt::format("no access of the instrumented code could be checked; "
                       "{} to see why",
                       RemedyForSkipped);
  if (S.Sites == 0)
    return "CRSAN_NO_SANITIZE or an ignore list exempts every access of the "
           "instrumented code";
  if (S.Metadata && !leftOut(S).empty() && !S.Metadata->Unchecked)
    return fmt::format("metadata mode left out to save time: {}; set "
                       "CRSAN_OPTIONS=effort=thorough to have all followed",
                       leftOut(S));
  if (S.Metadata && S.Metadata->Unchecked)
    return fmt::format("no access that the launched kernels executed could be "
                       "checked ({})",
                       S.Metadata->WhyUnchecked);
  return "the launched kernels executed no access that is checked";
}

/// What a reader of a clean summary must not overlook.
static std::string reservations(const Report &R) {
  const RunSummary &S = R.Summary;
  std::vector<std::string> List;
  auto Add = [&](uint64_t N, const char *One, const char *Many,
                 std::string_view How) {
    if (N)
      List.push_back(fmt::format("{} {}", counted(N, One, Many), How));
  };
  auto AddLaunches = [&](uint64_t N, std::string_view How) {
    Add(N, "kernel launch", "kernel launches", How);
  };
  AddLaunches(S.KernelsFailed, "failed");
  AddLaunches(S.KernelsNotInstrumented, "not instrumented");
  AddLaunches(S.KernelsSwitchedOff, "switched off");
  AddLaunches(S.KernelsLeftOut, "left out");
  AddLaunches(S.KernelsByTwins, "without checks");
  if (S.Metadata) {
    AddLaunches(S.Metadata->GridsLeftOut, "not followed");
    Add(S.Metadata->BlocksLeftOut, "block", "blocks", "not followed");
    AddLaunches(S.Metadata->GridsStopped, "followed in part");
    if (const uint64_t N = S.Metadata->RacesUntold)
      List.push_back("possible races not told " + counted(N, "time", "times"));
  }
  Add(S.SkippedAccesses, "access", "accesses", "not checked");
  Add(S.ExemptAccesses, "access", "accesses", "exempt");
  Add(S.Oracle ? S.Oracle->Exempt : 0, "access", "accesses", "exempt");
  if (S.Suppressed)
    List.push_back(fmt::format("{} suppressed", S.Suppressed));
  const bool IsVacuous = !S.Oracle && S.Sites == 0 && S.SkippedAccesses == 0 &&
                         S.ExemptAccesses == 0;
  const char *Why =
      IsVacuous ? ": every access is atomic, volatile or private" : "";
  if (List.empty())
    return Why;
  return fmt::format("{} in what was checked ({})", Why, fmt::join(List, ", "));
}

/// "2 data races (1 clobbered read, 1 lost update), 1 barrier divergence".
static std::string findingCounts(const Report &R) {
  std::vector<std::string> Races, All;
  size_t NumRaces = 0;
  for (const KindWords &Words : allKindWords()) {
    const auto N =
        std::count_if(R.Findings.begin(), R.Findings.end(),
                      [&](const Finding &F) { return F.kind() == Words.Kind; });
    if (N)
      (isDataRace(Words.Kind) ? Races : All)
          .push_back(counted(N, Words.Name, Words.Plural));
    NumRaces += isDataRace(Words.Kind) ? N : 0;
  }
  if (NumRaces)
    All.insert(All.begin(),
               fmt::format("{} ({})", counted(NumRaces, "data race"),
                           fmt::join(Races, ", ")));
  return fmt::format("{}", fmt::join(All, ", "));
}

void SummaryPrinter::summary(const Report &R) {
  const RunSummary &S = R.Summary;
  switch (R.verdict()) {
  case Verdict::Racy:
    return line("SUMMARY: CRSan: {}", findingCounts(R));
  case Verdict::Clean:
    return line("SUMMARY: CRSan: no data races found{}", reservations(R));
  case Verdict::NothingChecked:
    return line("SUMMARY: CRSan: nothing was checked: {}",
                whyNothingChecked(S));
  case Verdict::NotKnown:
    return line("SUMMARY: CRSan: no data race was seen, but what was checked "
                "is not known: {}",
                S.Checks ? "accesses were checked though no launch was counted"
                         : "the counts of checks were lost with their context");
  }
}

std::string crsan::summaryText(const Report &R) {
  SummaryPrinter P;
  P.runs(R);
  P.processes(R);
  P.warnings(R);
  const auto &Metadata = R.Summary.Metadata;
  if (R.verdict() != Verdict::NothingChecked || R.Summary.Oracle ||
      (Metadata && Metadata->Unchecked)) // And why.
    P.whatWasChecked(R);
  P.whichAccesses(R.Checked);
  P.summary(R);
  return std::move(P.Text);
}
