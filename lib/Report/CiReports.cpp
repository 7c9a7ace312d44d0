// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report in the forms that CI systems show.
#include "Report/CiReports.h"

#include "Lines.h"
#include "Report/Comparison.h"
#include "Report/Explanation.h"
#include "Report/Words.h"
#include "SummaryText.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <optional>
#include <unordered_map>

using namespace crsan;
using nlohmann::json;
using nlohmann::ordered_json;

/// Text in an attribute or an element. XML 1.0 has no other control characters
/// than these three, not even escaped; bytes that are no UTF-8 are replaced.
static std::string escaped(const std::string &Text) {
  const std::string Valid =
      json(Text).dump(-1, ' ', false, json::error_handler_t::replace);
  const std::string Clean = json::parse(Valid).get<std::string>();
  std::string Escaped;
  for (const char C : Clean) {
    if (C == '&')
      Escaped += "&amp;";
    else if (C == '<')
      Escaped += "&lt;";
    else if (C == '>')
      Escaped += "&gt;";
    else if (C == '"')
      Escaped += "&quot;";
    else if (C == '\n' || C == '\t' || C == '\r' || uint8_t(C) >= 0x20)
      Escaped += C;
    else
      Escaped += '?';
  }
  return Escaped;
}

/// "app.cu:52 in main" as a place; nothing if it is none, or several.
static std::optional<SourceFrame> readPlace(const std::string &Words) {
  const size_t End = Words.find(" in ");
  const size_t Colon = Words.rfind(':', End);
  SourceFrame Place;
  if (End == Words.npos || Colon == Words.npos ||
      Words.find(", ") != Words.npos)
    return std::nullopt;
  Place.File = Words.substr(0, Colon);
  std::from_chars(Words.data() + Colon + 1, Words.data() + End, Place.Line);
  return Place;
}

static const SourceFrame *placeOf(const Finding &F) {
  return F.Site && !F.Site->Frames.empty() ? &frameToName(F.Site->Frames)
                                           : nullptr;
}

/// The finding alone, as the text report has it.
static std::string textOf(const Finding &F, const Report &R,
                          const TextOptions &Options) {
  Report One;
  One.Findings = {F};
  One.Runs = R.Runs;
  return renderFindings(One, Options);
}

std::string crsan::renderJUnit(const Report &R, const TextOptions &Options) {
  Lines L;
  const bool IsVoid = R.verdict() == Verdict::NothingChecked ||
                      R.verdict() == Verdict::NotKnown;
  L.line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
  L.line("<testsuites>");
  L.line("  <testsuite name=\"CRSan\" tests=\"{}\" failures=\"{}\" "
         "errors=\"{}\">",
         std::max<size_t>(R.Findings.size(), 1), R.Findings.size(),
         IsVoid ? 1 : 0);
  for (const Finding &F : R.Findings) {
    const SourceFrame *Place = placeOf(F);
    L.line("    <testcase classname=\"{}\" name=\"{}\">",
           escaped(F.Instances.empty() ? "CRSan" : F.Instances.front()),
           escaped(heading(F) +
                   (Place ? " at " + position(*Place, Options.StripPathPrefix)
                          : "")));
    L.line("      <failure type=\"{}\" message=\"{}\">{}</failure>",
           wordsOf(F.kind()).Key, escaped(explain(F)),
           escaped(textOf(F, R, Options)));
    L.line("    </testcase>");
  }
  if (R.Findings.empty()) {
    L.line("    <testcase classname=\"CRSan\" name=\"data races\">");
    if (IsVoid)
      L.line("      <error message=\"nothing was checked\"/>");
    L.line("    </testcase>");
  }
  L.line("    <system-out>{}</system-out>", escaped(summaryText(R)));
  L.line("  </testsuite>");
  L.line("</testsuites>");
  return std::move(L.Text);
}

std::string crsan::renderCodeQuality(const Report &R,
                                     const TextOptions &Options) {
  ordered_json List = ordered_json::array();
  std::unordered_map<std::string, unsigned> Seen;
  for (const Finding &F : R.Findings) {
    const SourceFrame *Place = placeOf(F);
    // A GPU does not tell where a kernel failed; the launch is known.
    const std::optional<SourceFrame> Launch =
        F.isFault() && !Place ? readPlace(F.LaunchedAt) : std::nullopt;
    if (Launch)
      Place = &*Launch;
    if (!Place || Place->File.empty() || Place->Line == 0)
      continue;
    std::string_view Path = Place->File;
    if (Path.starts_with(Options.StripPathPrefix))
      Path.remove_prefix(Options.StripPathPrefix.size());
    // GitLab shows one of several entries that have one fingerprint.
    std::string Fingerprint = fingerprintOf(F);
    if (const unsigned Number = Seen[Fingerprint]++)
      Fingerprint += fmt::format("-{}", Number + 1);
    List.push_back(
        {{"description",
          heading(F) + ": " +
              (F.isFault() && !faultWords(F).empty() ? faultWords(F) + ". "
                                                     : "") +
              explain(F)},
         {"check_name", std::string("cuda-race/") + wordsOf(F.kind()).Key},
         {"fingerprint", Fingerprint},
         {"severity", "critical"},
         {"location", {{"path", Path}, {"lines", {{"begin", Place->Line}}}}}});
  }
  return List.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}
