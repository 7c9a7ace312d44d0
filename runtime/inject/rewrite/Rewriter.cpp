// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks for code that was built without them.

#include "rewrite/Rewriter.h"

#include "Report/Demangle.h"
#include "Report/Words.h"
#include "common/CallSites.h"
#include "common/Command.h"
#include "crsan/abi/Rewritten.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include <unistd.h>

namespace crsan {

namespace fs = std::filesystem;

static constexpr char ToolName[] = "crsan-ptxas";

/// The tool of the folder `bin` that belongs to this library, in the build tree
/// as where CRSan is installed; empty: there is none.
static std::string findTool() {
  std::error_code Error;
  fs::path Folder =
      fs::canonical(fileOfAddress(reinterpret_cast<void *>(findTool)), Error)
          .parent_path();
  for (unsigned Up = 0; Up < 4 && Folder.has_relative_path(); ++Up) {
    Folder = Folder.parent_path();
    const fs::path Tool = Folder / "bin" / ToolName;
    if (access(Tool.c_str(), X_OK) == 0)
      return Tool;
  }
  return {};
}

/// What is behind the prefix, if the line begins with it.
static bool consume(std::string_view &Line, std::string_view Prefix) {
  if (!Line.starts_with(Prefix))
    return false;
  Line.remove_prefix(Prefix.size());
  return true;
}

/// Reads the lines above the PTX. False: they do not end.
static bool readLines(std::string_view Text, RewrittenCode &Code) {
  while (!Text.empty()) {
    const size_t End = std::min(Text.find('\n'), Text.size());
    std::string_view Line = Text.substr(0, End);
    Text.remove_prefix(std::min(End + 1, Text.size()));
    if (Line == abi::EndOfRewritten) {
      if (Code.Problem.empty())
        Code.PTX = Text;
      return true;
    }
    if (Line == abi::CachedComment) {
      Code.WasCached = true;
    } else if (consume(Line, abi::UncachedComment)) {
      Code.WhyNotCached = Line;
    } else if (consume(Line, abi::UncheckedModule)) {
      Code.Problem = Line;
    } else if (consume(Line, abi::UncheckedFunction)) {
      const size_t Colon = std::min(Line.find(": "), Line.size());
      Code.Unchecked.emplace_back(
          Line.substr(0, Colon), Line.substr(std::min(Colon + 2, Line.size())));
    } else {
      return false;
    }
  }
  return false;
}

RewrittenCode rewrite(std::string PTX, std::string_view Mode,
                      const std::vector<std::string> &Words) {
  RewrittenCode Code;
  Code.PTX = std::move(PTX);
  const std::string Tool = findTool();
  if (Tool.empty()) {
    Code.Problem = fmt::format(
        "{} is missing in the folder bin of CRSan; reinstall CRSan", ToolName);
    return Code;
  }
  std::vector<std::string> Command = {Tool,
                                      fmt::format("--crsan-mode={}", Mode)};
  Command.insert(Command.end(), Words.begin(), Words.end());
  Command.push_back("-");
  const std::optional<CommandResult> Result = runCommand(Command, Code.PTX);
  if (Result && Result->ExitCode == 0 && readLines(Result->Output, Code))
    return Code;
  Code.Unchecked.clear();
  if (!Result || Result->ExitCode == CommandResult::CannotRun) {
    Code.Problem = fmt::format("cannot run '{}'; is there memory for another "
                               "process?",
                               Tool);
    return Code;
  }
  // Its last line says why, below what other tools say; a crash has none of
  // that form.
  std::string_view Line = Result->Errors;
  Line = Line.substr(0, Line.find_last_not_of('\n') + 1);
  Line = Line.substr(Line.rfind('\n') + 1);
  Code.Problem =
      consume(Line, "CRSan: ")
          ? std::string(Line)
          : fmt::format("{} failed (exit code {}), which is a mistake of "
                        "CRSan's; please report it",
                        Tool, Result->ExitCode);
  return Code;
}

std::vector<std::string> uncheckedLines(const RewrittenCode &Code,
                                        std::string_view Module) {
  if (!Code.Problem.empty())
    return {fmt::format("code of {} is not checked: {}", Module, Code.Problem)};
  std::map<std::string, std::vector<std::string>> ByReason;
  for (const auto &[Function, Why] : Code.Unchecked)
    ByReason[Why].push_back(demangle(Function));
  std::vector<std::string> Lines;
  for (auto &[Why, Functions] : ByReason) {
    const size_t Number = Functions.size();
    constexpr size_t Most = 3;
    Functions.resize(std::min(Number, Most));
    Lines.push_back(fmt::format(
        "{} of {} not checked ({}{}): {}",
        counted(Number, "function", "functions"),
        fmt::format("{} {}", Module, Number == 1 ? "is" : "are"),
        fmt::join(Functions, ", "), Number > Most ? ", ..." : "", Why));
  }
  return Lines;
}

} // namespace crsan
