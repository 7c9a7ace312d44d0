// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report for other tools.
#include "Report/SarifReport.h"
#include "Report/Advice.h"
#include "Report/Comparison.h"
#include "Report/Explanation.h"
#include "Report/KindGuide.h"
#include "Report/Words.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>

using namespace crsan;
using nlohmann::json;
using nlohmann::ordered_json;

/// A path as a URI reference (RFC 3986): relative paths stay relative.
static std::string uriOf(std::string_view Path) {
  std::string Uri = Path.starts_with('/') ? "file://" : "";
  for (const char C : Path) {
    const bool IsPlain =
        std::isalnum((unsigned char)C) ||
        std::string_view("/-._~").find(C) != std::string_view::npos;
    if (IsPlain)
      Uri += C;
    else
      Uri += fmt::format("%{:02X}", (unsigned char)C);
  }
  return Uri;
}

static ordered_json text(const std::string &Text) { return {{"text", Text}}; }

namespace {
class Writer {
public:
  explicit Writer(const TextOptions &Options) : Options(Options) {}

  ordered_json result(const Finding &F);

private:
  ordered_json location(const SourceFrame &F) const;
  /// The access itself; null if no table or no line tells where it is.
  ordered_json location(const std::optional<SiteInfo> &Site) const;
  ordered_json stack(const SiteInfo &Site, const char *Name) const;
  std::string otherMessage(const Finding &F) const;
  ordered_json fix(const std::vector<Edit> &Edits) const;

  const TextOptions &Options;
  SourceFiles Sources;
};
} // namespace

ordered_json Writer::location(const SourceFrame &F) const {
  ordered_json Location = ordered_json::object();
  if (!F.File.empty()) {
    std::string_view File = F.File;
    if (File.starts_with(Options.StripPathPrefix))
      File.remove_prefix(Options.StripPathPrefix.size());
    ordered_json &Physical = Location["physicalLocation"];
    Physical["artifactLocation"]["uri"] = uriOf(File);
    if (F.Line)
      Physical["region"]["startLine"] = F.Line;
    if (F.Line && F.Column)
      Physical["region"]["startColumn"] = F.Column;
  }
  if (!F.Function.empty())
    Location["logicalLocations"] = {
        {{"fullyQualifiedName", F.Function}, {"kind", "function"}}};
  return Location;
}

ordered_json Writer::location(const std::optional<SiteInfo> &Site) const {
  if (!Site || Site->Frames.empty())
    return nullptr;
  return location(frameToName(Site->Frames));
}

/// Where the access was inlined, innermost first.
ordered_json Writer::stack(const SiteInfo &Site, const char *Name) const {
  ordered_json Frames = ordered_json::array();
  for (const SourceFrame &F : Site.Frames)
    Frames.push_back({{"location", location(F)}});
  return {{"message", text(Name)}, {"frames", Frames}};
}

std::string Writer::otherMessage(const Finding &F) const {
  if (F.isTwoSided())
    return sideWords(F, Side::Earlier, Options.StripPathPrefix);
  return "the other " + accessWords(F.Other ? &*F.Other : nullptr);
}

/// All changes together, as an editor applies them.
ordered_json Writer::fix(const std::vector<Edit> &Edits) const {
  ordered_json Changes = ordered_json::array();
  for (const Edit &E : Edits) {
    ordered_json Location = location(SourceFrame{{}, E.File, 0, 0});
    const uint32_t End = E.Column + uint32_t(E.Old.size());
    Changes.push_back(
        {{"artifactLocation", Location["physicalLocation"]["artifactLocation"]},
         {"replacements",
          {{{"deletedRegion",
             {{"startLine", E.Line},
              {"startColumn", E.Column},
              {"endColumn", End}}},
            {"insertedContent",
             {{"text", E.Old.empty() ? E.New + "\n" : E.New}}}}}}});
  }
  return {{{"description", text("the two accesses are ordered")},
           {"artifactChanges", Changes}}};
}

ordered_json Writer::result(const Finding &F) {
  const KindWords &Words = wordsOf(F.kind());
  std::string Message =
      heading(F) + (F.Memory.empty() ? "" : ", " + F.Memory) + ": ";
  if (F.isFault() && !faultWords(F).empty())
    Message += faultWords(F) + ". ";
  if (F.isTwoSided())
    Message += fmt::format(
        "{}, {}. ", sideWords(F, Side::Later, Options.StripPathPrefix),
        sideWords(F, Side::Earlier, Options.StripPathPrefix));
  const std::vector<Edit> Edits =
      Options.ShowsSource ? adviceFor(F, Sources) : std::vector<Edit>();
  const std::string Advice = adviceWords(Edits, Options.StripPathPrefix);
  ordered_json Result = {{"ruleId", Words.Key},
                         {"level", "error"},
                         {"message", text(Message + explain(F) + Advice)}};
  ordered_json &Locations = Result["locations"] = ordered_json::array();
  if (ordered_json Location = location(F.Site); !Location.is_null())
    Locations.push_back(Location);
  if (ordered_json Location = location(F.Other); !Location.is_null()) {
    Location["message"] = text(otherMessage(F));
    Result["relatedLocations"].push_back(Location);
  }
  for (const auto &[Also, Who] : {std::pair(&F.AlsoSite, "the later thread"),
                                  {&F.AlsoOther, "the earlier thread"}})
    for (const CompanionInfo &C : *Also) {
      ordered_json Location = location(C.Frames.front());
      Location["message"] =
          text(fmt::format("also a {} by {}", accessWords(C), Who));
      Result["relatedLocations"].push_back(Location);
    }
  ordered_json &Stacks = Result["stacks"] = ordered_json::array();
  if (F.Site && F.Site->Frames.size() > 1)
    Stacks.push_back(stack(*F.Site, "inlined calls of the access"));
  if (F.Other && F.Other->Frames.size() > 1)
    Stacks.push_back(stack(*F.Other, "inlined calls of the other access"));
  if (Stacks.empty())
    Result.erase("stacks");
  // By which code hosts know a finding again when lines have moved.
  Result["partialFingerprints"]["crsanRace/v1"] = fingerprintOf(F);
  if (!Edits.empty())
    Result["fixes"] = fix(Edits);
  // SARIF counts in 32 bits, and so do its readers.
  Result["occurrenceCount"] = std::min<uint64_t>(F.Count, 0x7fffffff);
  if (*Words.Code)
    Result["properties"]["code"] = Words.Code;
  return Result;
}

static ordered_json rule(const KindGuide &Guide) {
  const KindWords &Words = wordsOf(Guide.Kind);
  return {{"id", Words.Key},
          {"shortDescription", text(Words.Name)},
          {"fullDescription", text(Guide.Meaning)},
          {"help",
           {{"text", guideText(Guide)}, {"markdown", guideMarkdown(Guide)}}}};
}

std::string crsan::renderSARIF(const Report &R, const TextOptions &Options) {
  Writer W(Options);
  ordered_json Rules = ordered_json::array(), Results = ordered_json::array(),
               Notes = ordered_json::array();
  for (const KindGuide &Guide : allKindGuides())
    Rules.push_back(rule(Guide));
  for (const Finding &F : R.Findings)
    Results.push_back(W.result(F));
  for (const std::string &Note : R.Summary.Notes)
    Notes.push_back({{"level", "warning"}, {"message", text(Note)}});
  const ordered_json Driver = {{"name", "CudaRaceSanitizer"}, {"rules", Rules}};
  const ordered_json Run = {
      {"tool", {{"driver", Driver}}},
      {"invocations",
       {{{"executionSuccessful", R.verdict() != Verdict::NothingChecked},
         {"toolExecutionNotifications", Notes}}}},
      {"results", Results}};
  const ordered_json Log = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", ordered_json::array({Run})}};
  return Log.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}
