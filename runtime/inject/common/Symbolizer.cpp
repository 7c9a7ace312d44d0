// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines of host code, by a symbolizer.

#include "common/CallSites.h"
#include "common/Command.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace crsan {

/// The path of a program that PATH finds; empty: there is none.
static std::string findInPath(std::string_view Name) {
  const char *Path = std::getenv("PATH");
  std::string_view Folders = Path ? Path : "/usr/bin:/bin";
  while (!Folders.empty()) {
    const size_t End = std::min(Folders.find(':'), Folders.size());
    std::string File = fmt::format("{}/{}", Folders.substr(0, End), Name);
    if (access(File.c_str(), X_OK) == 0)
      return File;
    Folders.remove_prefix(std::min(End + 1, Folders.size()));
  }
  return {};
}

static std::string findSymbolizer() {
  if (const char *Path = std::getenv("CRSAN_SYMBOLIZER_PATH"))
    return Path;
  for (const char *Name :
       {"llvm-symbolizer-22", "llvm-symbolizer", "addr2line"})
    if (std::string Path = findInPath(Name); !Path.empty())
      return Path;
  return {};
}

/// Empty: the tool takes too long.
static std::string outputOf(const std::vector<std::string> &Words) {
  std::optional<CommandResult> Result =
      runCommand(Words, {}, std::chrono::seconds(20));
  return Result ? std::move(Result->Output) : std::string();
}

std::vector<std::vector<HostLine>>
symbolize(const std::string &File, const std::vector<uint64_t> &Addresses) {
  const std::string Tool = findSymbolizer();
  std::vector<std::vector<HostLine>> All;
  if (Tool.empty() || File.empty())
    return All;
  const bool IsLLVM = Tool.find("llvm-symbolizer") != Tool.npos;
  // The words of a command are limited.
  constexpr size_t Most = 2000;
  for (size_t From = 0; From < Addresses.size(); From += Most) {
    std::vector<std::string> Words = {Tool, "-a", "-f", "-C", "-i"};
    if (IsLLVM)
      Words.push_back("--output-style=GNU");
    Words.insert(Words.end(), {"-e", File});
    for (size_t I = From; I < std::min(From + Most, Addresses.size()); ++I)
      Words.push_back(fmt::format("{:#x}", Addresses[I]));
    std::vector<std::vector<HostLine>> Some = parseSymbols(outputOf(Words));
    All.insert(All.end(), std::make_move_iterator(Some.begin()),
               std::make_move_iterator(Some.end()));
  }
  return All;
}

std::vector<std::vector<HostLine>> parseSymbols(const std::string &Output) {
  std::vector<std::vector<HostLine>> All;
  std::string_view Rest = Output, Function;
  bool HasFunction = false;
  while (!Rest.empty()) {
    const size_t End = std::min(Rest.find('\n'), Rest.size());
    std::string_view Text = Rest.substr(0, End);
    Rest.remove_prefix(std::min(End + 1, Rest.size()));
    if (!HasFunction && Text.starts_with("0x")) {
      All.emplace_back();
    } else if (!HasFunction) {
      Function = Text;
      HasFunction = true;
    } else if (!All.empty()) {
      HasFunction = false;
      // "file:12", perhaps with ":34" or " (discriminator 2)" behind it.
      Text = Text.substr(0, Text.find(" (discriminator"));
      const size_t Colon = Text.rfind(':');
      HostLine L;
      L.Function = Function == "??" ? "" : Function;
      L.File = Text.substr(0, Colon);
      L.Line = Colon == Text.npos
                   ? 0
                   : unsigned(std::atoi(
                         std::string(Text.substr(Colon + 1)).c_str()));
      if (L.File == "??" || L.Line == 0)
        L.File.clear();
      All.back().push_back(std::move(L));
    }
  }
  return All;
}

} // namespace crsan
