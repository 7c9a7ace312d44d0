//===- TextReport.cpp - A report as text ----------------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report/TextReport.h"
#include "Report/Explanation.h"
#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

using namespace crsan;

namespace {

/// Appends lines to the text.
class Printer {
public:
  explicit Printer(const TextOptions &Options) : Options(Options) {}

  void finding(const Finding &F, bool ShowDevice);
  void warnings(const Report &R);
  void whatTheColliderChecked(const RunSummary &S);
  void whatMetadataChecked(const RunSummary &S);
  void whatWasChecked(const Report &R);
  void summary(const Report &R);

  std::string Text;

private:
  template <typename... Ts>
  void line(fmt::format_string<Ts...> Format, Ts &&...Args) {
    fmt::format_to(std::back_inserter(Text), Format, std::forward<Ts>(Args)...);
    Text += '\n';
  }

  void sides(const Finding &F);
  void frames(uint64_t Id, const std::optional<SiteInfo> &Site);
  void companions(const std::vector<CompanionInfo> &List);
  void instances(const Finding &F);
  void firstSeen(const Finding &F, bool ShowDevice);
  void values(const Finding &F);
  void occurrences(const Finding &F);

  const TextOptions &Options;
};

} // namespace

/// Lanes as a list of ranges: 0-3,7.
static std::string laneList(uint32_t Mask) {
  std::string List;
  for (unsigned First = 0; First < 32; ++First) {
    if (!(Mask >> First & 1))
      continue;
    unsigned Last = First;
    while (Last < 31 && (Mask >> (Last + 1) & 1))
      ++Last;
    List += List.empty() ? "" : ",";
    List += First == Last ? fmt::format("{}", First)
                          : fmt::format("{}-{}", First, Last);
    First = Last;
  }
  return List;
}

/// A value of the access's width, or the hash that stands for a wider one.
static std::string valueText(uint64_t Value, const Finding &F) {
  if (F.First.Flags & abi::ValuesAreHashes)
    return fmt::format("0x{:016x} (hash)", Value);
  const uint32_t Bytes = std::min<uint32_t>(F.size() ? F.size() : 8, 8);
  if (Bytes < 8)
    Value &= (uint64_t(1) << 8 * Bytes) - 1;
  return fmt::format("0x{:0{}x}", Value, 2 * Bytes);
}

void Printer::frames(uint64_t Id, const std::optional<SiteInfo> &Site) {
  if (!Site)
    return line("    #0 unknown site 0x{:016x} (no loaded module describes it)",
                Id);
  if (Site->Frames.empty())
    return line("    #0 in an unknown function at {}", position({}, {}));
  for (size_t I = 0; I < Site->Frames.size(); ++I) {
    const SourceFrame &F = Site->Frames[I];
    line("    #{} {}{} at {}", I, I ? "inlined in " : "",
         F.Function.empty() ? "an unknown function" : F.Function,
         position(F, Options.StripPathPrefix));
  }
}

/// Other accesses of one side's thread that race with those of the other.
void Printer::companions(const std::vector<CompanionInfo> &List) {
  for (const CompanionInfo &C : List) {
    std::string Place = position(C.Frames.front(), Options.StripPathPrefix);
    for (size_t I = 1; I < C.Frames.size(); ++I)
      Place += ", inlined at " + position(C.Frames[I], Options.StripPathPrefix);
    line("    also {} at {}", accessWords(C), Place);
  }
}

/// The kernel, and where else the same line raced.
void Printer::instances(const Finding &F) {
  if (!F.Site)
    return;
  if (F.Site->Kernel.empty())
    line("  kernel: not known, several may run this function");
  else
    line("  kernel: {}", F.Site->Kernel);

  constexpr size_t Most = 4;
  const size_t Others = F.Instances.empty() ? 0 : F.Instances.size() - 1;
  for (size_t I = 0; I < std::min(Others, Most); ++I)
    line("  also in: {}", F.Instances[I + 1]);
  if (Others > Most)
    line("  also in: {} more", Others - Most);

  if (F.isTwoSided() && F.Other && !F.Other->Kernel.empty() &&
      F.Other->Kernel != F.Site->Kernel)
    line("  kernel of the earlier access: {}", F.Other->Kernel);
}

void Printer::firstSeen(const Finding &F, bool ShowDevice) {
  const abi::Record &Rec = F.First;
  const auto [X, Y, Z] = F.thread();
  std::string Where = ShowDevice && !F.Devices.empty()
                          ? fmt::format("device {} ", F.Devices.front())
                          : "";
  if (!F.isTwoSided()) // Else the sides have said it.
    Where += fmt::format("block ({},{},{}) thread ({},{},{}) ", Rec.Block[0],
                         Rec.Block[1], Rec.Block[2], X, Y, Z);
  if (isIntraWarp(F.kind()) && Rec.Lanes) {
    const bool One = (Rec.Lanes & (Rec.Lanes - 1)) == 0;
    Where += fmt::format("lane{} {} ", One ? "" : "s", laneList(Rec.Lanes));
  }
  Where += fmt::format("address 0x{:x} ({})", Rec.Address, nameOf(F.space()));
  if (F.kind() == abi::RaceKind::ClobberedRead ||
      F.kind() == abi::RaceKind::LostUpdate)
    Where += fmt::format(" value {} became {}", valueText(Rec.Before, F),
                         valueText(Rec.After, F));
  line("  first seen: {}", Where);
  if (!F.Memory.empty())
    line("  memory: {}", F.Memory);
}

void Printer::values(const Finding &F) {
  const abi::Record &Rec = F.First;
  if (Rec.Flags & abi::SameValue)
    line("  values: {} in every lane (same value)", valueText(Rec.Before, F));
  else
    line("  values: {} in this lane, {} in the other lane",
         valueText(Rec.Before, F), valueText(Rec.After, F));
}

void Printer::occurrences(const Finding &F) {
  std::string Devices;
  if (F.Devices.size() > 1)
    Devices = fmt::format(" on devices {}", fmt::join(F.Devices, ", "));
  line("  occurrences: {}{}{}", F.AtLeast ? "at least " : "", F.Count, Devices);
  for (abi::RaceKind Kind : F.OtherKinds)
    line("  also seen as: {}", wordsOf(Kind).Name);
}

static const char *otherAccess(const Finding &F) {
  // A lane that reads is the accused, never the other side.
  if (F.kind() == abi::RaceKind::IntraWarpConflict)
    return "the write";
  if (!F.Other)
    return "an access";
  return F.Other->Access == abi::AccessKind::Load ? "the read" : "the write";
}

/// The accused access, and the other one if there is one.
void Printer::sides(const Finding &F) {
  if (F.isTwoSided()) {
    line("  {}:", sideWords(F, Side::Later, Options.StripPathPrefix));
    frames(F.First.Site, F.Site);
    companions(F.AlsoSite);
    line("  {}:", sideWords(F, Side::Earlier, Options.StripPathPrefix));
    frames(F.First.Other, F.Other);
    companions(F.AlsoOther);
    return;
  }
  frames(F.First.Site, F.Site);
  if (!F.First.Other)
    return;
  line("  conflicts with {} by another {}:", otherAccess(F),
       isIntraWarp(F.kind()) ? "lane" : "thread");
  frames(F.First.Other, F.Other);
}

void Printer::finding(const Finding &F, bool ShowDevice) {
  line("==================");
  line("CRSan: data race: {}", heading(F));
  sides(F);
  instances(F);
  firstSeen(F, ShowDevice);
  if (F.kind() == abi::RaceKind::IntraWarpLostUpdate)
    values(F);
  occurrences(F);
  line("  {}", explain(F));
  if (!Options.Replay.empty())
    line("  replay: {}", Options.Replay);
  line("==================");
}

/// What to do about kernels that are not instrumented.
static const char *remedyForForeign(const RunSummary &S) {
  return S.IsSimulated
             ? "build the source with -fsanitize=cuda-race, or let the oracle "
               "look for races, which needs no instrumentation: crsan run "
               "--device=sim --detector=oracle"
             : "build the source with -fsanitize=cuda-race";
}

void Printer::warnings(const Report &R) {
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
  if (S.DroppedRecords)
    line("CRSan: {} not shown, the record buffer was full; repair the races "
         "above and run again",
         counted(S.DroppedRecords, "race is", "races are"));
  if (S.SkippedAccesses)
    line("CRSan: {} not checked; build with -Rpass-missed=cuda-race to see "
         "which and why",
         counted(S.SkippedAccesses, "access of the source is",
                 "accesses of the source are"));
  if (S.ExemptAccesses)
    line("CRSan: {} not checked, as CRSAN_NO_SANITIZE or an ignore list asks",
         counted(S.ExemptAccesses, "access of the source is",
                 "accesses of the source are"));
  if (R.Suppressed)
    line("CRSan: {} not shown, as your suppressions ask",
         counted(R.Suppressed, "finding is", "findings are"));
}

void Printer::whatTheColliderChecked(const RunSummary &S) {
  const char *AtLeast = S.CountsComplete ? "" : "at least ";
  std::string Modules =
      S.Modules > 1 ? fmt::format(" of {} modules", S.Modules) : "";
  std::string Sampling =
      S.Budget ? fmt::format("sampled after {} of a window, down to 1 in {}",
                             S.Budget, S.MaxInterval)
               : "not sampled";
  line("CRSan: checked {}: {} in {}{}, {}{} checked, seed {}, delays up to {} "
       "ns{}, {}{} ({})",
       counted(S.KernelsLaunched, "kernel launch", "kernel launches"),
       counted(S.Sites, "site"), counted(S.Windows, "window"), Modules, AtLeast,
       counted(S.Checks - (S.Metadata ? S.Metadata->Checked : 0), "access",
               "accesses"),
       S.Seed, S.DelayNs, S.Shuffled ? ", blocks shuffled" : "", AtLeast,
       counted(S.WindowsChecked, "window execution"), Sampling);
}

void Printer::whatMetadataChecked(const RunSummary &S) {
  const MetadataSummary &M = *S.Metadata;
  constexpr unsigned MiB = 20;
  line("CRSan: metadata mode checked {}{} of functions with {} in {}; not "
       "checked: {}{}; "
       "memory tracked: {} MiB exactly, {} MiB by a cache, {} MiB not at all",
       S.CountsComplete ? "" : "at least ",
       counted(M.Checked, "access", "accesses"), counted(M.Sites, "site"),
       counted(S.KernelsLaunched, "kernel launch", "kernel launches"),
       M.Unchecked, M.Unchecked ? " (" + M.WhyUnchecked + ")" : "",
       M.Exact >> MiB, M.Cached >> MiB, M.None >> MiB);
}

void Printer::whatWasChecked(const Report &R) {
  const RunSummary &S = R.Summary;
  if (!R.hasOnlyMetadata())
    whatTheColliderChecked(S);
  if (S.Metadata)
    whatMetadataChecked(S);
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
  if (S.KernelsNotInstrumented)
    return fmt::format("no instrumented kernel was launched; {}",
                       remedyForForeign(S));
  return "no kernel was launched"; // Whatever code was loaded.
}

static std::string whyNothingChecked(const RunSummary &S) {
  if (S.KernelsLaunched == 0)
    return whyNoLaunch(S);
  if (S.Sites == 0 && S.SkippedAccesses)
    return "no access of the instrumented code could be checked; build with "
           "-Rpass-missed=cuda-race to see why";
  if (S.Sites == 0)
    return "CRSAN_NO_SANITIZE or an ignore list exempts every access of the "
           "instrumented code";
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
  if (S.KernelsFailed)
    List.push_back(
        fmt::format("{} failed", counted(S.KernelsFailed, "kernel launch",
                                         "kernel launches")));
  if (S.KernelsNotInstrumented)
    List.push_back(fmt::format(
        "{} not instrumented",
        counted(S.KernelsNotInstrumented, "kernel launch", "kernel launches")));
  if (S.KernelsSwitchedOff)
    List.push_back(fmt::format(
        "{} switched off",
        counted(S.KernelsSwitchedOff, "kernel launch", "kernel launches")));
  if (S.SkippedAccesses)
    List.push_back(fmt::format(
        "{} not checked", counted(S.SkippedAccesses, "access", "accesses")));
  if (S.ExemptAccesses)
    List.push_back(fmt::format(
        "{} exempt", counted(S.ExemptAccesses, "access", "accesses")));
  if (R.Suppressed)
    List.push_back(fmt::format("{} suppressed", R.Suppressed));
  const bool IsVacuous =
      S.Sites == 0 && S.SkippedAccesses == 0 && S.ExemptAccesses == 0;
  const char *Why =
      IsVacuous ? ": every access is atomic, volatile or private" : "";
  if (List.empty())
    return Why;
  return fmt::format("{} in what was checked ({})", Why, fmt::join(List, ", "));
}

/// "2 data races (1 clobbered read, 1 lost update)".
static std::string raceCounts(const Report &R) {
  std::vector<std::string> Parts;
  for (const KindWords &Words : allKindWords()) {
    const auto N =
        std::count_if(R.Findings.begin(), R.Findings.end(),
                      [&](const Finding &F) { return F.kind() == Words.Kind; });
    if (N)
      Parts.push_back(counted(N, Words.Name, Words.Plural));
  }
  return fmt::format("{} ({})", counted(R.Findings.size(), "data race"),
                     fmt::join(Parts, ", "));
}

void Printer::summary(const Report &R) {
  const RunSummary &S = R.Summary;
  switch (R.verdict()) {
  case Verdict::Racy:
    return line("SUMMARY: CRSan: {}", raceCounts(R));
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

std::string crsan::renderText(const Report &R, const TextOptions &Options) {
  Printer P(Options);
  const bool ShowDevice =
      std::any_of(R.Findings.begin(), R.Findings.end(), [](const Finding &F) {
        return F.Devices.size() > 1 ||
               (F.Devices.size() == 1 && F.Devices.front() != 0);
      });
  for (const Finding &F : R.Findings)
    P.finding(F, ShowDevice);
  P.warnings(R);
  const auto &Metadata = R.Summary.Metadata;
  if (R.verdict() != Verdict::NothingChecked ||
      (Metadata && Metadata->Unchecked)) // And why.
    P.whatWasChecked(R);
  P.summary(R);
  return std::move(P.Text);
}
