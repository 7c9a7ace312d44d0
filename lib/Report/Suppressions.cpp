// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings that a user does not want.
#include "Report/Suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

using namespace crsan;

static std::string_view trim(std::string_view Text) {
  const size_t Begin = Text.find_first_not_of(" \t\r");
  if (Begin == Text.npos)
    return {};
  return Text.substr(Begin, Text.find_last_not_of(" \t\r") - Begin + 1);
}

std::variant<Suppressions, SuppressionsError>
Suppressions::parse(std::string_view Text) {
  Suppressions S;
  for (size_t Number = 1; !Text.empty(); ++Number) {
    const size_t End = std::min(Text.find('\n'), Text.size());
    const std::string_view Line = trim(Text.substr(0, End));
    Text.remove_prefix(std::min(End + 1, Text.size()));
    if (Line.empty() || Line.front() == '#')
      continue;
    const size_t Colon = Line.find(':');
    const std::string_view Type = Line.substr(0, Colon);
    if (Colon == Line.npos || (Type != "race" && Type != "race_top"))
      return SuppressionsError{fmt::format(
          "line {}: '{}' is neither race:PATTERN nor race_top:PATTERN", Number,
          Line)};
    const std::string_view Pattern = trim(Line.substr(Colon + 1));
    // It would match everything, which nobody means who writes nothing.
    if (Pattern.empty())
      return SuppressionsError{
          fmt::format("line {}: the pattern is empty", Number)};
    S.Entries.push_back({Type == "race_top", std::string(Pattern)});
  }
  return S;
}

std::variant<Suppressions, SuppressionsError>
Suppressions::read(const std::string &Path) {
  std::string Text;
  std::FILE *In = std::fopen(Path.c_str(), "rb");
  if (In) {
    char Buffer[1 << 12];
    while (size_t Size = std::fread(Buffer, 1, sizeof(Buffer), In))
      Text.append(Buffer, Size);
  }
  const bool IsRead = In && !std::ferror(In); // It may be a directory.
  const int Error = errno;
  if (In)
    std::fclose(In);
  if (!IsRead)
    return SuppressionsError{
        fmt::format("cannot read '{}': {}", Path, std::strerror(Error))};
  auto Result = parse(Text);
  if (auto *Bad = std::get_if<SuppressionsError>(&Result))
    Bad->Message =
        fmt::format("'{}': {}; see docs/report-format.md", Path, Bad->Message);
  return Result;
}

/// Whether the pattern, which may contain '*', is `Text` from start to end.
static bool isWhole(std::string_view Pattern, std::string_view Text) {
  // Where to go on after a mismatch: the last '*' takes one character more.
  size_t Star = Pattern.npos, Retry = 0, P = 0, T = 0;
  while (T < Text.size()) {
    if (P < Pattern.size() && Pattern[P] == '*') {
      Star = P++;
      Retry = T;
    } else if (P < Pattern.size() && Pattern[P] == Text[T]) {
      ++P, ++T;
    } else if (Star != Pattern.npos) {
      P = Star + 1;
      T = ++Retry;
    } else {
      return false;
    }
  }
  return Pattern.find_first_not_of('*', P) == Pattern.npos;
}

static bool occursIn(std::string_view Pattern, std::string_view Text) {
  if (Text.empty())
    return false;
  std::string Whole;
  if (Pattern.starts_with('^'))
    Pattern.remove_prefix(1);
  else
    Whole += '*';
  const bool ToTheEnd = Pattern.ends_with('$');
  if (ToTheEnd)
    Pattern.remove_suffix(1);
  Whole += Pattern;
  if (!ToTheEnd)
    Whole += '*';
  return isWhole(Whole, Text);
}

static bool names(std::string_view Pattern, const SourceFrame &F) {
  return occursIn(Pattern, F.Function) || occursIn(Pattern, F.File) ||
         (!F.File.empty() && F.Line &&
          occursIn(Pattern, fmt::format("{}:{}", F.File, F.Line)));
}

bool Suppressions::matches(const Finding &F) const {
  const auto Names = [](const Entry &E, const std::optional<SiteInfo> &Site) {
    if (!Site)
      return false;
    const size_t Frames =
        std::min<size_t>(Site->Frames.size(), E.TopOnly ? 1 : -1);
    return std::any_of(
               Site->Frames.begin(), Site->Frames.begin() + Frames,
               [&](const SourceFrame &F) { return names(E.Pattern, F); }) ||
           (!E.TopOnly && occursIn(E.Pattern, Site->Kernel));
  };
  return std::any_of(Entries.begin(), Entries.end(), [&](const Entry &E) {
    return Names(E, F.Site) || Names(E, F.Other);
  });
}

void Suppressions::apply(Report &R) const {
  R.Summary.Suppressed += std::erase_if(
      R.Findings, [this](const Finding &F) { return matches(F); });
}
