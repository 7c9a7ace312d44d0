// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report as text.
#include "Report/TextReport.h"
#include "Lines.h"
#include "Report/Advice.h"
#include "Report/Explanation.h"
#include "Report/SourceFiles.h"
#include "Report/Suppressions.h"
#include "Report/Words.h"
#include "SummaryText.h"
#include "crsan/ToolkitFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>

using namespace crsan;

namespace {

class FindingPrinter : public Lines {
public:
  explicit FindingPrinter(const TextOptions &Options) : Options(Options) {}

  void finding(const Finding &F, bool ShowDevice,
               const std::vector<RunInfo> &Runs);

private:
  void sides(const Finding &F);
  void frames(uint64_t Id, const std::optional<SiteInfo> &Site);
  void source(const SiteInfo &Site);
  void companions(const std::vector<CompanionInfo> &List);
  void instances(const Finding &F);
  void firstSeen(const Finding &F, bool ShowDevice);
  void occurrences(const Finding &F);
  void runs(const Finding &F, const std::vector<RunInfo> &Runs);

  const TextOptions &Options;
  SourceFiles Sources;
  std::string Shown; ///< The place whose source the finding showed last.
};

/// A line as a terminal may have it, at most so many bytes: without control
/// characters, which could be commands to the terminal.
std::string printable(std::string_view Line) {
  constexpr size_t Most = 200;
  std::string Text(Line.substr(0, Most));
  for (char &C : Text)
    if (((unsigned char)C < ' ' && C != '\t') || C == 0x7f)
      C = '?';
  return Line.size() > Most ? Text + " ..." : Text;
}

/// What stands under a line so that the next character is under the byte
/// `Begin`. The bytes of a character in UTF-8 but the first have no column.
std::string indentOf(std::string_view Line, size_t Begin) {
  std::string Text;
  for (char C : Line.substr(0, Begin))
    if (((unsigned char)C & 0xc0) != 0x80)
      Text += C == '\t' ? '\t' : ' ';
  return Text;
}

} // namespace

/// The source of an access: of the innermost line that is the user's.
void FindingPrinter::source(const SiteInfo &Site) {
  if (!Options.ShowsSource)
    return;
  for (const SourceFrame &F : Site.Frames) {
    if (isToolkitFile(F.File))
      continue;
    const SourceExcerpt Excerpt = Sources.around(F, /*Around=*/1);
    const std::string Place = fmt::format("{}:{}:{}", F.File, F.Line, F.Column);
    if (Excerpt.Lines.empty() || Place == Shown)
      return;
    Shown = Place;
    for (size_t I = 0; I < Excerpt.Lines.size(); ++I) {
      const uint32_t Number = Excerpt.FirstLine + uint32_t(I);
      const std::string &Line = Excerpt.Lines[I];
      const bool IsHere = Number == F.Line;
      line("    {} {:4} | {}", IsHere ? '>' : ' ', Number, printable(Line));
      if (IsHere && Excerpt.Length &&
          Excerpt.Begin + Excerpt.Length <= printable(Line).size())
        line("           | {}^{}", indentOf(Line, Excerpt.Begin),
             std::string(Excerpt.Length - 1, '~'));
    }
    return;
  }
}

void FindingPrinter::frames(uint64_t Id, const std::optional<SiteInfo> &Site) {
  if (!Site)
    return line("    #0 unknown site 0x{:016x} (no loaded module describes it)",
                Id);
  if (!Site->Operation.empty()) {
    if (Site->Frames.empty())
      return line("    #0 {} in a stream", Site->Operation);
    const SourceFrame &Caller = Site->Frames.front();
    line("    #0 {} called in {} at {}", Site->Operation,
         Caller.Function.empty() ? "an unknown function" : Caller.Function,
         position(Caller, Options.StripPathPrefix));
    return source(*Site);
  }
  if (Site->Frames.empty() && Site->IsFault)
    return; // A GPU does not tell.
  if (Site->Frames.empty())
    return line("    #0 in an unknown function at {}", position({}, {}));
  for (size_t I = 0; I < Site->Frames.size(); ++I) {
    const SourceFrame &F = Site->Frames[I];
    const std::string Place = position(F, Options.StripPathPrefix);
    if (F.Function.empty() && I + 1 < Site->Frames.size())
      line("    #{} inlined code at {}", I, Place);
    else
      line("    #{} {}{} at {}", I, I ? "inlined in " : "",
           F.Function.empty() ? "an unknown function" : F.Function, Place);
  }
  source(*Site);
}

/// Other accesses of one side's thread that race with those of the other.
void FindingPrinter::companions(const std::vector<CompanionInfo> &List) {
  for (const CompanionInfo &C : List) {
    std::string Place = position(C.Frames.front(), Options.StripPathPrefix);
    for (size_t I = 1; I < C.Frames.size(); ++I)
      Place += ", inlined at " + position(C.Frames[I], Options.StripPathPrefix);
    line("    also {} at {}", accessWords(C), Place);
  }
}

/// The kernel, and where else the same line raced.
void FindingPrinter::instances(const Finding &F) {
  if (!F.Site)
    return;
  if (F.isFault() ? !F.Site->Kernel.empty()
                  : F.Site->Operation.empty() && !F.Site->IsHost)
    line("  kernel: {}", F.Site->Kernel.empty()
                             ? "not known, several may run this function"
                             : F.Site->Kernel);

  if (const std::string Launch = launchWords(F); !Launch.empty())
    line("  launched as: {}", Launch);
  if (!F.LaunchedAt.empty())
    line("  launched at: {}", F.LaunchedAt);

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

void FindingPrinter::firstSeen(const Finding &F, bool ShowDevice) {
  std::string Device = ShowDevice && !F.Devices.empty()
                           ? fmt::format("device {} ", F.Devices.front())
                           : "";
  line("  first seen: {}{}", Device, firstSeenWords(F));
  if (!F.Memory.empty())
    line("  memory: {}", F.Memory);
  if (!F.AllocatedAt.empty())
    line("  allocated at: {}", F.AllocatedAt);
  if (!F.HostWroteAt.empty())
    line("  the host wrote here, without waiting: {}", F.HostWroteAt);
}

void FindingPrinter::occurrences(const Finding &F) {
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
void FindingPrinter::sides(const Finding &F) {
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
  line("  conflicts with {} by {}:", otherAccess(F),
       F.Other && !F.Other->Operation.empty() ? "an operation of a stream"
       : F.Other && F.Other->IsHost           ? "the host"
       : isIntraWarp(F.kind())                ? "another lane"
                                              : "another thread");
  frames(F.First.Other, F.Other);
}

/// How often the finding came, and how it comes again.
void FindingPrinter::runs(const Finding &F, const std::vector<RunInfo> &Runs) {
  if (Runs.size() > 1)
    line("  found in: {} of {} runs (seed{} {})", F.Runs.size(), Runs.size(),
         F.Runs.size() == 1 ? "" : "s", seedList(F.Runs, Runs));
  const uint32_t First = F.Runs.empty() ? 0 : F.Runs.front();
  if (First < Runs.size() && !Runs[First].Replay.empty())
    line("  replay: {}", Runs[First].Replay);
}

void FindingPrinter::finding(const Finding &F, bool ShowDevice,
                             const std::vector<RunInfo> &Runs) {
  line("==================");
  line("CRSan: {}{}", isDataRace(F.kind()) ? "data race: " : "", heading(F));
  Shown.clear();
  sides(F);
  instances(F);
  firstSeen(F, ShowDevice);
  if (const std::string Values = valueWords(F); !Values.empty())
    line("  values: {}", Values);
  occurrences(F);
  line("  {}", explain(F));
  if (Options.ShowsSource)
    for (const Edit &E : adviceFor(F, Sources))
      line("  to fix this: {}", wordsOf(E, Options.StripPathPrefix));
  runs(F, Runs);
  if (const std::string Line = suppressionFor(F, Options.StripPathPrefix);
      !Line.empty())
    line("  suppress with: {}", Line);
  line("==================");
}

/// The text with the lines that matter most in colour.
static std::string coloured(std::string_view Text) {
  struct Style {
    std::string_view Start, Escape;
  };
  static constexpr std::array Styles = {
      Style{"CRSan: data race: ", "\033[1;31m"},
      Style{"CRSan: barrier divergence: ", "\033[1;31m"},
      Style{"CRSan: kernel fault: ", "\033[1;31m"},
      Style{"SUMMARY: ", "\033[1m"},
      Style{"           | ", "\033[32m"},
      Style{"    > ", "\033[1m"},
      Style{"  suppress with: ", "\033[2m"},
  };
  std::string Painted;
  while (!Text.empty()) {
    const size_t End = std::min(Text.find('\n'), Text.size());
    const std::string_view Line = Text.substr(0, End);
    Text.remove_prefix(std::min(End + 1, Text.size()));
    const auto *Found =
        std::find_if(Styles.begin(), Styles.end(),
                     [&](const Style &S) { return Line.starts_with(S.Start); });
    if (Found == Styles.end())
      Painted += Line;
    else
      fmt::format_to(std::back_inserter(Painted), "{}{}\033[0m", Found->Escape,
                     Line);
    Painted += '\n';
  }
  return Painted;
}

bool crsan::wantsColour(std::string_view Choice, bool IsTerminal) {
  if (Choice != "auto")
    return Choice == "always";
  const char *Refused = std::getenv("NO_COLOR"), *Kind = std::getenv("TERM");
  return IsTerminal && !(Refused && *Refused) &&
         !(Kind && std::string_view(Kind) == "dumb");
}

std::string crsan::renderFindings(const Report &R, const TextOptions &Options) {
  FindingPrinter P(Options);
  const bool ShowDevice =
      std::any_of(R.Findings.begin(), R.Findings.end(), [](const Finding &F) {
        return F.Devices.size() > 1 ||
               (F.Devices.size() == 1 && F.Devices.front() != 0);
      });
  for (const Finding &F : R.Findings)
    P.finding(F, ShowDevice, R.Runs);
  return Options.HasColour ? coloured(P.Text) : std::move(P.Text);
}

std::string crsan::renderText(const Report &R, const TextOptions &Options) {
  const std::string Summary = summaryText(R);
  return renderFindings(R, Options) +
         (Options.HasColour ? coloured(Summary) : Summary);
}

std::string crsan::renderBrief(const Report &R, const TextOptions &Options) {
  std::string Text;
  for (const Finding &F : R.Findings)
    Text +=
        fmt::format("CRSan: {}{}\n", isDataRace(F.kind()) ? "data race: " : "",
                    headingAndPlace(F, Options.StripPathPrefix));
  Text += summaryText(R);
  return Options.HasColour ? coloured(Text) : Text;
}
