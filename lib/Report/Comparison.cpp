// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has changed from one report to another.
#include "Report/Comparison.h"

#include "Lines.h"
#include "Report/Words.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>

using namespace crsan;
using nlohmann::json;
using nlohmann::ordered_json;

static const SourceFrame *frameOf(const std::optional<SiteInfo> &Site) {
  return Site && !Site->Frames.empty() ? &frameToName(Site->Frames) : nullptr;
}

/// What tells one side from others, without lines. The folder of a file may
/// differ between two machines.
static std::string identityOfSide(const std::optional<SiteInfo> &Site) {
  if (!Site)
    return "?";
  std::string Identity =
      fmt::format("{} {}{}", int(Site->Access), Site->Operation,
                  Site->IsHost ? "host" : "");
  if (Site->Variable)
    Identity += " " + Site->Variable->LinkageName;
  if (Site->IsFault)
    Identity += "fault in " + Site->Kernel;
  for (const SourceFrame &F : Site->Frames)
    fmt::format_to(std::back_inserter(Identity), "|{}:{}",
                   std::filesystem::path(F.File).filename().string(),
                   F.Function);
  return Identity;
}

std::string crsan::identityOf(const Finding &F) {
  // Which of two sides came first is chance.
  std::string A = identityOfSide(F.Site), B = identityOfSide(F.Other);
  if (F.isTwoSided())
    return fmt::format("two {} / {}", std::min(A, B), std::max(A, B));
  return fmt::format("{}{} {} / {}", int(F.kind()), F.Fault, A, B);
}

std::string crsan::fingerprintOf(const Finding &F) {
  uint64_t Hash = 0xcbf29ce484222325;
  for (const char C : identityOf(F))
    Hash = (Hash ^ uint8_t(C)) * 0x100000001b3;
  return fmt::format("{:016x}", Hash);
}

using Lines2 = std::array<uint32_t, 2>;

static Lines2 linesOf(const Finding &F) {
  const SourceFrame *A = frameOf(F.Site), *B = frameOf(F.Other);
  Lines2 Lines = {A ? A->Line : 0, B ? B->Line : 0};
  if (F.isTwoSided())
    std::sort(Lines.begin(), Lines.end());
  return Lines;
}

namespace {
/// Findings of one identity, in the order of their lines.
struct Alike {
  std::vector<std::pair<Lines2, size_t>> Old, New;
};
} // namespace

Comparison crsan::compare(const Report &Old, const Report &New) {
  std::map<std::string, Alike> Groups;
  for (size_t I = 0; I < Old.Findings.size(); ++I)
    Groups[identityOf(Old.Findings[I])].Old.push_back(
        {linesOf(Old.Findings[I]), I});
  for (size_t I = 0; I < New.Findings.size(); ++I)
    Groups[identityOf(New.Findings[I])].New.push_back(
        {linesOf(New.Findings[I]), I});
  Comparison C;
  for (auto &[Identity, G] : Groups) {
    std::sort(G.Old.begin(), G.Old.end());
    std::sort(G.New.begin(), G.New.end());
    const auto Match = [&](auto BelongTogether) {
      std::erase_if(G.Old, [&](const auto &O) {
        auto N = std::find_if(G.New.begin(), G.New.end(), [&](const auto &N) {
          return BelongTogether(O.first, N.first);
        });
        if (N == G.New.end())
          return false;
        C.Persistent.push_back({O.second, N->second});
        G.New.erase(N);
        return true;
      });
    };
    Match([](Lines2 A, Lines2 B) { return A == B; });
    Match([](Lines2, Lines2) { return true; });
    for (const auto &[Lines, Index] : G.Old)
      C.Fixed.push_back(Index);
    for (const auto &[Lines, Index] : G.New)
      C.New.push_back(Index);
  }
  std::sort(C.New.begin(), C.New.end());
  std::sort(C.Fixed.begin(), C.Fixed.end());
  std::sort(C.Persistent.begin(), C.Persistent.end(),
            [](auto A, auto B) { return A.second < B.second; });
  return C;
}

static std::string where(const Finding &F, const TextOptions &Options) {
  const SourceFrame *Frame = frameOf(F.Site), *Other = frameOf(F.Other);
  std::string Text;
  if (Frame)
    Text = " at " + position(*Frame, Options.StripPathPrefix);
  if (Frame && Other && !(*Frame == *Other))
    Text += " and " + position(*Other, Options.StripPathPrefix);
  if (Frame && !Frame->Function.empty())
    Text += " in " + Frame->Function;
  return Text;
}

std::string crsan::renderComparison(const Comparison &C, const Report &Old,
                                    const Report &New,
                                    const TextOptions &Options) {
  Lines L;
  const auto Say = [&](const char *What, const Finding &F) {
    L.line("CRSan: {}: {}{}", What, heading(F), where(F, Options));
  };
  for (size_t I : C.New)
    Say("new", New.Findings[I]);
  for (size_t I : C.Fixed)
    Say("fixed", Old.Findings[I]);
  for (auto [Before, Now] : C.Persistent)
    Say("persistent", New.Findings[Now]);
  L.line("SUMMARY: CRSan: {} new, {} fixed, {} persistent", C.New.size(),
         C.Fixed.size(), C.Persistent.size());
  return std::move(L.Text);
}

static ordered_json findingJSON(const Finding &F, const TextOptions &Options) {
  ordered_json Object = {{"kind", wordsOf(F.kind()).Key},
                         {"heading", heading(F)}};
  if (const SourceFrame *Frame = frameOf(F.Site)) {
    std::string_view File = Frame->File;
    if (File.starts_with(Options.StripPathPrefix))
      File.remove_prefix(Options.StripPathPrefix.size());
    Object["function"] = Frame->Function;
    Object["file"] = File;
    Object["line"] = Frame->Line;
    Object["column"] = Frame->Column;
  }
  return Object;
}

std::string crsan::renderComparisonJSON(const Comparison &C, const Report &Old,
                                        const Report &New,
                                        const TextOptions &Options) {
  ordered_json Document = {{"new", ordered_json::array()},
                           {"fixed", ordered_json::array()},
                           {"persistent", ordered_json::array()}};
  for (size_t I : C.New)
    Document["new"].push_back(findingJSON(New.Findings[I], Options));
  for (size_t I : C.Fixed)
    Document["fixed"].push_back(findingJSON(Old.Findings[I], Options));
  for (auto [Before, Now] : C.Persistent) {
    ordered_json Object = findingJSON(New.Findings[Now], Options);
    if (const SourceFrame *Frame = frameOf(Old.Findings[Before].Site))
      Object["old_line"] = Frame->Line;
    Document["persistent"].push_back(std::move(Object));
  }
  return Document.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}
