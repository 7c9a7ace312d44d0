// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report as a web page.
//
// The page is html/report.html, with the report as one block of JSON. The
// script makes text nodes of all that comes from the report, so that nothing
// here is ever read as HTML; the JSON has no '<', so that the block ends where
// it should.
#include "Report/HtmlReport.h"
#include "Report/Advice.h"
#include "Report/Explanation.h"
#include "Report/SourceFiles.h"
#include "Report/Words.h"
#include "SummaryFields.h"
#include "SummaryText.h"

#include <nlohmann/json.hpp>

#include <map>
#include <sstream>
#include <unordered_map>

using namespace crsan;
using nlohmann::json;
using nlohmann::ordered_json;

static constexpr char Page[] = {
#embed "html/report.html"
};
static constexpr char Style[] = {
#embed "html/report.css"
};
static constexpr char Script[] = {
#embed "html/report.js"
};

/// Lines before and behind an access.
static constexpr unsigned LinesAround = 4;
/// No person reads longer lines.
static constexpr size_t LongestLine = 500;

namespace {

/// The lines of source that the page has, each once, and the files that they
/// are in.
class SourceLines {
public:
  explicit SourceLines(std::string_view Strip) : Strip(Strip) {}

  /// Function, file (an index), line, column and the bytes to underline. The
  /// lines around the place become part of the page.
  ordered_json frame(const SourceFrame &F);
  /// By index: the name, and the lines with their numbers.
  ordered_json json() const;
  std::string advice(const Finding &F) {
    return adviceWords(adviceFor(F, Read), Strip);
  }

private:
  struct File {
    std::string_view Name;
    std::map<uint32_t, std::string> Lines;
  };

  size_t indexOf(const std::string &Path);

  std::string_view Strip;
  SourceFiles Read;
  std::unordered_map<std::string, size_t> Index;
  std::vector<File> Files;
};

class PageData {
public:
  explicit PageData(const Report &R, const TextOptions &Options)
      : R(R), Source(Options.StripPathPrefix) {}

  ordered_json json();

private:
  ordered_json finding(const Finding &F);
  ordered_json side(const Finding &F, Side Which);
  ordered_json stack(const std::vector<SourceFrame> &Frames);
  ordered_json places(const Finding &F) const;
  ordered_json runs(const Finding &F) const;
  ordered_json accesses();
  ordered_json coverage();

  const Report &R;
  SourceLines Source;
};

} // namespace

size_t SourceLines::indexOf(const std::string &Path) {
  auto [It, IsNew] = Index.try_emplace(Path, Files.size());
  if (IsNew) {
    File &New = Files.emplace_back(File{It->first, {}});
    if (New.Name.starts_with(Strip))
      New.Name.remove_prefix(Strip.size());
  }
  return It->second;
}

ordered_json SourceLines::frame(const SourceFrame &F) {
  ordered_json Object = {{"function", F.Function}};
  if (F.File.empty())
    return Object;
  const size_t File = indexOf(F.File);
  Object["file"] = File;
  Object["line"] = F.Line;
  Object["column"] = F.Column;
  const SourceExcerpt Excerpt = Read.around(F, LinesAround);
  for (size_t I = 0; I < Excerpt.Lines.size(); ++I)
    Files[File].Lines.try_emplace(uint32_t(Excerpt.FirstLine + I),
                                  Excerpt.Lines[I], 0, LongestLine);
  if (Excerpt.Length && Excerpt.Begin < LongestLine)
    Object["mark"] = {Excerpt.Begin, Excerpt.Length};
  return Object;
}

ordered_json SourceLines::json() const {
  ordered_json Array = ordered_json::array();
  for (const File &F : Files) {
    ordered_json Lines = ordered_json::array();
    for (const auto &[Number, Line] : F.Lines)
      Lines.push_back({Number, Line});
    Array.push_back({{"name", F.Name}, {"lines", std::move(Lines)}});
  }
  return Array;
}

/// A chain of inlined calls, and which of its frames to show first.
ordered_json PageData::stack(const std::vector<SourceFrame> &Frames) {
  ordered_json Stack = {{"frames", ordered_json::array()}};
  for (const SourceFrame &F : Frames)
    Stack["frames"].push_back(Source.frame(F));
  if (!Frames.empty())
    Stack["named"] = &frameToName(Frames) - Frames.data();
  return Stack;
}

ordered_json PageData::side(const Finding &F, Side Which) {
  const bool IsLater = Which == Side::Later;
  const std::optional<SiteInfo> &Site = IsLater ? F.Site : F.Other;
  ordered_json Object = stack(Site ? Site->Frames : std::vector<SourceFrame>());
  Object["access"] = accessWords(Site ? &*Site : nullptr);
  Object["kernel"] = Site ? Site->Kernel : "";
  Object["isOperation"] = Site && !Site->Operation.empty();
  // A one-sided finding does not know the other thread.
  if ((IsLater && F.knowsThread()) || F.isTwoSided())
    Object["thread"] = threadWords(F, Which);
  Object["also"] = ordered_json::array();
  for (const CompanionInfo &C : IsLater ? F.AlsoSite : F.AlsoOther) {
    Object["also"].push_back(stack(C.Frames));
    Object["also"].back()["access"] = accessWords(C);
  }
  return Object;
}

/// How many records there are of each block and of each lane.
ordered_json PageData::places(const Finding &F) const {
  ordered_json Blocks = ordered_json::array(), Lanes = ordered_json::array();
  for (const auto &[Block, Records] : F.Places.Blocks)
    Blocks.push_back({Block, Records});
  for (size_t Lane = 0; Lane < F.Places.Lanes.size(); ++Lane)
    if (const uint64_t Records = F.Places.Lanes[Lane])
      Lanes.push_back({Lane, Records});
  return {{"grid", F.Grid}, {"blocks", Blocks}, {"lanes", Lanes}};
}

/// The runs that show the finding, if there are several runs or a command that
/// repeats one.
ordered_json PageData::runs(const Finding &F) const {
  if (F.Runs.empty() || F.Runs.back() >= R.Runs.size())
    return nullptr;
  return {{"indices", F.Runs},
          {"seeds", seedList(F.Runs, R.Runs)},
          {"replay", R.Runs[F.Runs.front()].Replay}};
}

ordered_json PageData::finding(const Finding &F) {
  const KindWords &Words = wordsOf(F.kind());
  ordered_json Object = {{"kind", Words.Name},
                         {"code", Words.Code},
                         {"heading", heading(F)},
                         {"space", nameOf(F.space())},
                         {"memory", F.Memory},
                         {"allocatedAt", F.AllocatedAt},
                         {"hostWroteAt", F.HostWroteAt},
                         {"launchedAt", F.LaunchedAt},
                         {"kernels", F.Instances},
                         {"sides", ordered_json::array({side(F, Side::Later)})},
                         {"twoSided", F.isTwoSided()},
                         {"isFault", F.isFault()},
                         {"explanation", explain(F) + Source.advice(F)},
                         {"firstSeen", firstSeenWords(F)},
                         {"values", valueWords(F)},
                         {"count", F.Count},
                         {"atLeast", F.AtLeast},
                         {"devices", F.Devices},
                         {"places", places(F)},
                         {"runs", runs(F)}};
  if (F.First.Other)
    Object["sides"].push_back(side(F, Side::Earlier));
  Object["otherKinds"] = ordered_json::array();
  for (abi::RaceKind Kind : F.OtherKinds)
    Object["otherKinds"].push_back(wordsOf(Kind).Name);
  return Object;
}

template <typename T> static ordered_json countsOf(const T &Summary) {
  ordered_json Object;
  visitFields(Summary,
              [&](const char *Key, const auto &Value) { Object[Key] = Value; });
  return Object;
}

/// How often each access was checked, if the run was asked to say that.
ordered_json PageData::accesses() {
  ordered_json Array = ordered_json::array();
  for (const AccessCoverage &A : R.Checked) {
    ordered_json Object = {{"frame", Source.frame(A.Place)},
                           {"kernel", A.Kernel}};
    if (A.isCheckable()) {
      Object["access"] = accessWords(CompanionInfo{A.Access, {}});
      Object["checks"] = A.Checks;
      Object["followed"] = A.IsFollowed;
    } else {
      Object["notChecked"] = A.NotChecked;
    }
    Array.push_back(std::move(Object));
  }
  return Array;
}

/// What was checked, and what was not and why: the sentences of the text, the
/// counts behind them by detector, and each access.
ordered_json PageData::coverage() {
  ordered_json Sentences = ordered_json::array();
  std::istringstream Lines(summaryText(R));
  for (std::string Line; std::getline(Lines, Line);)
    // "CRSan: ...", and "SUMMARY: CRSan: ..." at last. What is indented are
    // accesses, which have a table.
    if (const size_t At = Line.find("CRSan: "); !Line.starts_with(' '))
      Sentences.push_back(Line.substr(At + 7));
  ordered_json Counts;
  if (!R.Summary.Oracle || R.Summary.KernelsLaunched)
    Counts["run"] = countsOf(R.Summary);
  if (R.Summary.Metadata)
    Counts["metadata mode"] = countsOf(*R.Summary.Metadata);
  if (R.Summary.Oracle)
    Counts["oracle"] = countsOf(*R.Summary.Oracle);
  return {
      {"sentences", Sentences}, {"counts", Counts}, {"accesses", accesses()}};
}

static const char *keyOf(Verdict V) {
  switch (V) {
  case Verdict::Racy:
    return "racy";
  case Verdict::Clean:
    return "clean";
  case Verdict::NothingChecked:
    return "nothing-checked";
  case Verdict::NotKnown:
    return "not-known";
  }
  return "";
}

ordered_json PageData::json() {
  ordered_json Findings = ordered_json::array(), Runs = ordered_json::array();
  for (const Finding &F : R.Findings)
    Findings.push_back(finding(F));
  for (const RunInfo &Run : R.Runs)
    Runs.push_back({{"seed", Run.Seed},
                    {"program", Run.Program},
                    {"replay", Run.Replay},
                    {"failure", Run.Failure}});
  ordered_json Covered = coverage();
  return {{"verdict", keyOf(R.verdict())},
          {"findings", std::move(Findings)},
          {"sources", Source.json()}, // Of all frames above.
          {"runs", std::move(Runs)},
          {"coverage", std::move(Covered)}};
}

/// The text of the JSON without '<', which in JSON is only found in strings.
static std::string forScriptElement(const ordered_json &Data) {
  const std::string Text =
      Data.dump(-1, ' ', true, json::error_handler_t::replace);
  std::string Safe;
  Safe.reserve(Text.size());
  for (const char C : Text)
    if (C == '<')
      Safe += "\\u003c";
    else
      Safe += C;
  return Safe;
}

std::string crsan::renderHTML(const Report &R, const TextOptions &Options) {
  const std::string Data = forScriptElement(PageData(R, Options).json());
  // The page alone is searched for names: the report may have the same text.
  std::string_view Rest(Page, sizeof(Page));
  std::string Text;
  for (const auto &[Name, Value] :
       {std::pair<std::string_view, std::string_view>("{{style}}",
                                                      {Style, sizeof(Style)}),
        {"{{data}}", Data},
        {"{{script}}", {Script, sizeof(Script)}}}) {
    const size_t At = Rest.find(Name);
    Text.append(Rest.substr(0, At)).append(Value);
    Rest.remove_prefix(At + Name.size());
  }
  return Text.append(Rest);
}
