// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings that a user does not want.
#include "Report/Suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
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

static constexpr std::string_view PairSeparator = " & ";

std::variant<Suppressions::Entry, SuppressionsError>
Suppressions::parseLine(std::string_view Line, size_t Number) {
  using enum Entry::Type;
  const size_t Colon = Line.find(':');
  const std::string_view Type = Line.substr(0, Colon);
  if (Colon == Line.npos ||
      (Type != "race" && Type != "race_top" && Type != "race_pair"))
    return SuppressionsError{
        fmt::format("line {}: '{}' is none of race:PATTERN, race_top:PATTERN "
                    "and race_pair:PATTERN",
                    Number, Line)};
  std::string_view Pattern = trim(Line.substr(Colon + 1)), Second = Pattern;
  const size_t Separator = Pattern.find(PairSeparator);
  if (Type == "race_pair" && Separator != Pattern.npos) {
    Second = trim(Pattern.substr(Separator + PairSeparator.size()));
    Pattern = trim(Pattern.substr(0, Separator));
  }
  // It would match everything, which nobody means who writes nothing.
  if (Pattern.empty() || Second.empty())
    return SuppressionsError{
        fmt::format("line {}: the pattern is empty", Number)};
  return Entry{Type == "race"       ? Any
               : Type == "race_top" ? Top
                                    : Pair,
               std::string(Pattern), std::string(Second), Number,
               std::string(Line)};
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
    auto Parsed = parseLine(Line, Number);
    if (auto *Error = std::get_if<SuppressionsError>(&Parsed))
      return std::move(*Error);
    S.Entries.push_back(std::get<Entry>(std::move(Parsed)));
  }
  S.HasMatched.resize(S.Entries.size());
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
  else
    std::get<Suppressions>(Result).Path = Path;
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

/// Whether the pattern names a side: one of its first `Most` frames, its kernel
/// or its operation of a stream.
static bool names(std::string_view Pattern, const SiteInfo &Site,
                  size_t Most = -1) {
  const auto End =
      Site.Frames.begin() + ptrdiff_t(std::min(Site.Frames.size(), Most));
  return std::any_of(Site.Frames.begin(), End,
                     [&](const SourceFrame &F) { return names(Pattern, F); }) ||
         occursIn(Pattern, Site.Operation) ||
         (Most > 1 && occursIn(Pattern, Site.Kernel));
}

bool Suppressions::Entry::matches(const SiteInfo *Site,
                                  const SiteInfo *Other) const {
  const size_t Most = What == Type::Top ? 1 : -1;
  const auto Names = [Most](std::string_view Pattern, const SiteInfo *Side) {
    return Side && names(Pattern, *Side, Most);
  };
  if (What != Type::Pair)
    return Names(Pattern, Site) || Names(Pattern, Other);
  return (Names(Pattern, Site) && Names(Second, Other)) ||
         (Names(Second, Site) && Names(Pattern, Other));
}

bool Suppressions::matches(const SiteInfo *Site, const SiteInfo *Other) const {
  bool Any = false;
  for (size_t I = 0; I < Entries.size(); ++I) {
    if (!Entries[I].matches(Site, Other))
      continue;
    Any = true;
    std::atomic_ref(HasMatched[I]).store(1, std::memory_order_relaxed);
  }
  return Any;
}

static bool isSet(uint8_t &Mark) {
  return std::atomic_ref(Mark).load(std::memory_order_relaxed);
}

bool Suppressions::hasMatched() const {
  return std::any_of(HasMatched.begin(), HasMatched.end(), isSet);
}

std::string Suppressions::unmatched() const {
  std::string List;
  for (size_t I = 0; I < Entries.size(); ++I)
    if (!isSet(HasMatched[I]))
      List += fmt::format("{}line {} ({})", List.empty() ? "" : ", ",
                          Entries[I].Line, Entries[I].Text);
  return List.empty() || Path.empty() ? List : List + " of " + Path;
}

bool Suppressions::matches(const Finding &F) const {
  return !F.isFault() &&
         matches(F.Site ? &*F.Site : nullptr, F.Other ? &*F.Other : nullptr);
}

void Suppressions::apply(Report &R) const {
  R.Summary.Suppressed += std::erase_if(
      R.Findings, [this](const Finding &F) { return matches(F); });
}

void Suppressions::apply(ReportFile &File) const {
  std::vector<Occurrence> Kept, Out;
  for (Occurrence &O : File.Occurrences) {
    const SiteInfo *Other =
        O.Rec.Other ? File.Sites.find(O.Rec.Other) : nullptr;
    const bool IsOut =
        O.Fault.empty() && matches(File.Sites.find(O.Rec.Site), Other);
    (IsOut ? Out : Kept).push_back(std::move(O));
  }
  File.Summary.Suppressed += buildReport(Out, File.Sites, {}).Findings.size();
  File.Occurrences = std::move(Kept);
}

//===----------------------------------------------------------------------===//
// The line that suppresses a finding
//===----------------------------------------------------------------------===//

/// A pattern of exactly this side's line, or of what else is known of it;
/// empty: nothing is. IsInner: the line is that of the access itself.
static std::string patternFor(const SiteInfo &Site, std::string_view Strip,
                              bool &IsInner) {
  IsInner = false;
  if (Site.Frames.empty()) {
    const std::string &Name =
        Site.Operation.empty() ? Site.Kernel : Site.Operation;
    return Name.empty() ? "" : fmt::format("^{}$", Name);
  }
  const SourceFrame &F = frameToName(Site.Frames);
  IsInner = &F == &Site.Frames.front();
  if (F.File.empty() || F.Line == 0)
    return F.Function.empty() ? "" : fmt::format("^{}$", F.Function);
  std::string_view File = F.File;
  const bool IsStripped = !Strip.empty() && File.starts_with(Strip);
  if (IsStripped)
    File.remove_prefix(Strip.size());
  std::string Pattern =
      fmt::format("{}{}:{}$", IsStripped ? "" : "^", File, F.Line);
  // A path may have the separator of a pair.
  for (size_t At; (At = Pattern.find(PairSeparator)) != Pattern.npos;)
    Pattern[At + 1] = '*';
  return Pattern;
}

std::string crsan::suppressionFor(const Finding &F, std::string_view Strip) {
  if (F.isFault())
    return {};
  bool IsInner = false, IsInnerToo = false;
  std::string One = F.Site ? patternFor(*F.Site, Strip, IsInner) : "";
  std::string Other = F.Other ? patternFor(*F.Other, Strip, IsInnerToo) : "";
  if (One.empty())
    std::swap(One, Other), std::swap(IsInner, IsInnerToo);
  if (One.empty())
    return {};
  if (Other.empty())
    return fmt::format("{}:{}", IsInner ? "race_top" : "race", One);
  if (One == Other)
    return "race_pair:" + One;
  // The same line whichever access came first.
  if (Other < One)
    std::swap(One, Other);
  return fmt::format("race_pair:{}{}{}", One, PairSeparator, Other);
}
