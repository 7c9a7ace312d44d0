// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Run-time options, parsed.

#include "common/Flags.h"
#include "common/FlagTable.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <span>
#include <vector>

namespace crsan {

static constexpr std::string_view Names[] = {
#define CRSAN_BOOL(Name, Default, Description) optionName(#Name),
#define CRSAN_UINT(Name, Default, Least, Greatest, Description)                \
  optionName(#Name),
#define CRSAN_STRING(Name, Default, Description) optionName(#Name),
#define CRSAN_CHOICE(Name, Default, Choices, Description) optionName(#Name),
#include "common/Flags.inc"
#undef CRSAN_BOOL
#undef CRSAN_UINT
#undef CRSAN_STRING
#undef CRSAN_CHOICE
};

static constexpr char HelpHint[] = "CRSAN_OPTIONS=help=1 lists the options";

/// Levenshtein's distance.
static size_t editDistance(std::string_view A, std::string_view B) {
  std::vector<size_t> Row(B.size() + 1);
  std::iota(Row.begin(), Row.end(), size_t(0));
  for (size_t I = 0; I < A.size(); ++I) {
    size_t Diagonal = Row[0];
    Row[0] = I + 1;
    for (size_t J = 0; J < B.size(); ++J) {
      size_t Change = Diagonal + (A[I] != B[J]);
      Diagonal = Row[J + 1];
      Row[J + 1] = std::min({Row[J] + 1, Row[J + 1] + 1, Change});
    }
  }
  return Row[B.size()];
}

/// Options that the user may have meant, nearest first, quoted; or nothing.
static std::string nearNames(std::string_view Name) {
  std::vector<std::pair<size_t, std::string_view>> Near;
  for (std::string_view Known : Names) {
    size_t Distance = editDistance(Name, Known);
    bool Part = Name.size() >= 3 && (Known.find(Name) != Known.npos ||
                                     Name.find(Known) != Name.npos);
    if (Distance <= std::max<size_t>(2, Known.size() / 3) || Part)
      Near.emplace_back(Distance, Known);
  }
  std::sort(Near.begin(), Near.end());
  std::string Text;
  for (const auto &[Distance, Known] :
       std::span(Near).first(std::min<size_t>(Near.size(), 3)))
    Text += fmt::format("{}'{}'", Text.empty() ? "" : " or ", Known);
  return Text;
}

static std::optional<std::string> set(bool &Field, std::string_view Name,
                                      std::string_view Value, uint32_t = 0,
                                      uint32_t = 0) {
  if (Value == "1" || Value == "yes" || Value == "true")
    Field = true;
  else if (Value == "0" || Value == "no" || Value == "false")
    Field = false;
  else
    return fmt::format("option '{}' takes 0 or 1, not '{}'", Name, Value);
  return std::nullopt;
}

static std::optional<std::string> set(uint32_t &Field, std::string_view Name,
                                      std::string_view Value, uint32_t Least,
                                      uint32_t Greatest) {
  uint64_t Number = 0;
  const char *End = Value.data() + Value.size();
  bool Hex = Value.starts_with("0x") || Value.starts_with("0X");
  auto [Stop, Error] =
      std::from_chars(Value.data() + (Hex ? 2 : 0), End, Number, Hex ? 16 : 10);
  if (Error != std::errc() || Stop != End || Number < Least ||
      Number > Greatest)
    return fmt::format("option '{}' takes a number from {} to {}, not '{}'",
                       Name, Least, Greatest, Value);
  Field = uint32_t(Number);
  return std::nullopt;
}

static std::optional<std::string> set(std::string &Field, std::string_view,
                                      std::string_view Value, uint32_t = 0,
                                      uint32_t = 0) {
  Field = Value;
  return std::nullopt;
}

/// Choices are separated by bars.
static std::optional<std::string> choose(std::string &Field,
                                         std::string_view Name,
                                         std::string_view Value,
                                         std::string_view Choices) {
  for (std::string_view Rest = Choices; !Rest.empty();) {
    std::string_view Choice = Rest.substr(0, Rest.find('|'));
    Rest.remove_prefix(std::min(Rest.size(), Choice.size() + 1));
    if (Choice != Value)
      continue;
    Field = Value;
    return std::nullopt;
  }
  return fmt::format("option '{}' takes one of {}, not '{}'", Name, Choices,
                     Value);
}

/// What the option `effort` stands for.
static void setEffort(Flags &F) {
  const Flags Default;
  F.launch_one_in = Default.launch_one_in;
  F.launch_first = Default.launch_first;
  F.launch_pause_us = Default.launch_pause_us;
  F.follow_one_in = Default.follow_one_in;
  F.follow_ms = Default.follow_ms;
  F.follow_launch_ms = Default.follow_launch_ms;
  F.shuffle = Default.shuffle;
  F.warp_one_in = Default.warp_one_in;
  F.early_blocks = Default.early_blocks;
  F.budget = Default.budget;
  F.overhead = Default.overhead;
  F.delay_ns = Default.delay_ns;
  if (F.effort == "light") {
    F.launch_one_in = 16;
    F.launch_first = 0;
    F.launch_pause_us = 2000;
    F.follow_one_in = 12;
    F.follow_launch_ms = 1;
    F.warp_one_in = 2;
    F.budget = 8;
    F.overhead = 10;
    F.delay_ns = 3000;
  } else if (F.effort == "thorough") {
    F.launch_one_in = 1;
    F.follow_ms = 0;
    F.follow_launch_ms = 0;
    F.early_blocks = false;
    F.budget = 8192;
    F.overhead = 200;
    F.delay_ns = 5000;
  }
}

static std::optional<std::string> assign(Flags &F, std::string_view Name,
                                         std::string_view Value) {
#define CRSAN_BOOL(Option, Default, Description)                               \
  if (Name == optionName(#Option))                                             \
    return set(F.Option, Name, Value);
#define CRSAN_UINT(Option, Default, Least, Greatest, Description)              \
  if (Name == optionName(#Option))                                             \
    return set(F.Option, Name, Value, Least, Greatest);
#define CRSAN_STRING(Option, Default, Description)                             \
  if (Name == optionName(#Option))                                             \
    return set(F.Option, Name, Value);
#define CRSAN_CHOICE(Option, Default, Choices, Description)                    \
  if (Name == optionName(#Option))                                             \
    return choose(F.Option, Name, Value, Choices);
#include "common/Flags.inc"
#undef CRSAN_BOOL
#undef CRSAN_UINT
#undef CRSAN_STRING
#undef CRSAN_CHOICE
  std::string Near = nearNames(Name);
  if (Near.empty())
    return fmt::format("unknown option '{}'; {}", Name, HelpHint);
  return fmt::format("unknown option '{}'; did you mean {}? {}", Name, Near,
                     HelpHint);
}

static constexpr std::string_view Separators = " \t\r\n:,";

std::optional<std::string> Flags::parse(std::string_view Text) {
  while (true) {
    size_t Start = Text.find_first_not_of(Separators);
    if (Start == Text.npos)
      return std::nullopt;
    Text.remove_prefix(Start);
    size_t NameEnd = std::min(Text.find_first_of(Separators), Text.size());
    size_t Equals = Text.find('=');
    if (Equals == Text.npos || Equals > NameEnd)
      return fmt::format("option '{}' has no value: write name=value; {}",
                         Text.substr(0, NameEnd), HelpHint);
    std::string_view Name = Text.substr(0, Equals);
    Text.remove_prefix(Equals + 1);
    std::string_view Value;
    if (!Text.empty() && (Text[0] == '"' || Text[0] == '\'')) {
      size_t Close = Text.find(Text[0], 1);
      if (Close == Text.npos)
        return fmt::format("the value of option '{}' lacks its closing {}",
                           Name, Text[0]);
      Value = Text.substr(1, Close - 1);
      Text.remove_prefix(Close + 1);
      if (!Text.empty() && Separators.find(Text[0]) == Separators.npos)
        return fmt::format("a separator is missing after the value of option "
                           "'{}'",
                           Name);
    } else {
      Value = Text.substr(0, Text.find_first_of(Separators));
      Text.remove_prefix(Value.size());
    }
    if (auto Error = assign(*this, Name, Value))
      return Error;
    if (Name == "effort")
      setEffort(*this);
  }
}

std::vector<FlagInfo> flagTable() {
  return {
#define CRSAN_BOOL(Name, Default, Description)                                 \
  {optionName(#Name), Default ? "1" : "0", Description},
#define CRSAN_UINT(Name, Default, Least, Greatest, Description)                \
  {optionName(#Name), std::to_string(Default), Description},
#define CRSAN_STRING(Name, Default, Description)                               \
  {optionName(#Name), "\"" Default "\"", Description},
#define CRSAN_CHOICE(Name, Default, Choices, Description)                      \
  {optionName(#Name), Default " (of " Choices ")", Description},
#include "common/Flags.inc"
#undef CRSAN_BOOL
#undef CRSAN_UINT
#undef CRSAN_STRING
#undef CRSAN_CHOICE
  };
}

std::string Flags::helpText() {
  std::string Text = "CRSan: options, as in CRSAN_OPTIONS=name=value:...\n";
  for (const FlagInfo &F : flagTable())
    Text +=
        fmt::format("  {}={}\n      {}\n", F.Name, F.Default, F.Description);
  return Text;
}

} // namespace crsan
