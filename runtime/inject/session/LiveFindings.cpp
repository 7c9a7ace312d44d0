// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings that are printed while the program runs.

#include "session/LiveFindings.h"

#include "Report/SummaryText.h"
#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace crsan {

using namespace std::chrono_literals;

LiveFindings &liveFindings() {
  static auto *TheFindings = new LiveFindings;
  return *TheFindings;
}

static std::string placeOf(uint64_t Id, const std::optional<SiteInfo> &Site) {
  if (!Site || Site->Frames.empty() || Site->Frames.front().Line == 0)
    return fmt::format("#{:x}", Id);
  std::string Place;
  for (const SourceFrame &F : Site->Frames)
    fmt::format_to(std::back_inserter(Place), "|{}:{}:{}", F.File, F.Line,
                   F.Column);
  return Place;
}

/// Equal for a finding that is made again of more records. The kind and the
/// order of the sides of a two-sided finding may change then.
static std::string identityOf(const Finding &F) {
  const std::string A = placeOf(F.First.Site, F.Site);
  const std::string B = placeOf(F.First.Other, F.Other);
  return fmt::format("{}{} {} / {}",
                     F.isTwoSided() ? "two" : wordsOf(F.kind()).Key, F.Fault,
                     std::min(A, B), std::max(A, B));
}

std::string LiveFindings::takeNew(const Report &R, const TextOptions &Options) {
  std::unique_lock Guard(Lock, 1s);
  Report New = R;
  std::erase_if(New.Findings, [&](const Finding &F) {
    return !Printed.insert(identityOf(F)).second;
  });
  return New.Findings.empty() ? "" : renderFindings(New, Options);
}

std::string LiveFindings::rest(const Report &R, const TextOptions &Options,
                               bool PrintsAgain) {
  std::unique_lock Guard(Lock, 1s);
  Report New = R;
  std::string Lines;
  std::erase_if(New.Findings, [&](const Finding &F) {
    if (Printed.insert(identityOf(F)).second || PrintsAgain)
      return false;
    const std::string Where =
        F.Site && !F.Site->Frames.empty()
            ? " at " + position(F.Site->Frames.front(), Options.StripPathPrefix)
            : "";
    Lines +=
        fmt::format("CRSan: shown above: {}{}, occurrences: {}{}\n", heading(F),
                    Where, F.AtLeast ? "at least " : "", F.Count);
    return true;
  });
  return renderFindings(New, Options) + Lines + summaryText(R);
}

} // namespace crsan
