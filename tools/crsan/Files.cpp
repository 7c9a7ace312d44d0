// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that commands read and write.
#include "Files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include <unistd.h>

using namespace crsan;

int crsan::fail(const std::string &Message) {
  std::cerr << "CRSan: " << Message << '\n';
  return 1;
}

std::optional<std::string> crsan::readFile(const std::string &Path) {
  std::FILE *In = Path == "-" ? stdin : std::fopen(Path.c_str(), "rb");
  if (!In)
    return std::nullopt;
  std::string Text;
  char Buffer[1 << 16];
  while (size_t Size = std::fread(Buffer, 1, sizeof(Buffer), In))
    Text.append(Buffer, Size);
  const int Error = std::ferror(In) ? errno : 0; // A directory, for one.
  if (In != stdin)
    std::fclose(In);
  errno = Error;
  return Error ? std::nullopt : std::optional(std::move(Text));
}

std::variant<ReportFile, ReportFileError>
crsan::readReport(const std::string &Path) {
  const std::optional<std::string> Text = readFile(Path);
  if (!Text)
    return ReportFileError{"cannot read '" + Path +
                           "': " + std::strerror(errno)};
  auto Parsed = parseReportFile(*Text);
  if (auto *Error = std::get_if<ReportFileError>(&Parsed))
    return ReportFileError{"'" + Path + "' is no report: " + Error->Message +
                           "; see docs/report-format.md"};
  return Parsed;
}

static bool isStandardOutput(const std::string &Path) {
  return Path.empty() || Path == "-";
}

/// A file is written under another name first: nobody reads half a report.
static bool isWrittenAside(const std::string &Path) {
  std::error_code Ignored;
  return !std::filesystem::exists(Path, Ignored) ||
         std::filesystem::is_regular_file(Path, Ignored);
}

static std::string cannotWrite(const std::string &Path, int Error) {
  return "cannot write '" + Path + "': " + std::strerror(Error);
}

std::optional<std::string> crsan::whyNotWritable(const std::string &Path) {
  if (isStandardOutput(Path))
    return std::nullopt;
  std::error_code Ignored;
  if (std::filesystem::is_directory(Path, Ignored))
    return cannotWrite(Path, EISDIR);
  std::string Where = Path;
  if (isWrittenAside(Path))
    Where = std::filesystem::path(Path).parent_path();
  if (access(Where.empty() ? "." : Where.c_str(), W_OK) == 0)
    return std::nullopt;
  return cannotWrite(Path, errno);
}

std::optional<std::string> crsan::writeText(const std::string &Path,
                                            const std::string &Text) {
  if (isStandardOutput(Path)) {
    std::cout << Text << std::flush;
    if (!std::cout)
      return "cannot write the report to the standard output";
    return std::nullopt;
  }
  const bool IsFile = isWrittenAside(Path);
  const std::string Target =
      IsFile ? Path + "." + std::to_string(getpid()) + ".tmp" : Path;
  std::FILE *Out = std::fopen(Target.c_str(), "wb");
  bool Done =
      Out && std::fwrite(Text.data(), 1, Text.size(), Out) == Text.size();
  Done = Out && std::fclose(Out) == 0 && Done &&
         (!IsFile || std::rename(Target.c_str(), Path.c_str()) == 0);
  if (Done)
    return std::nullopt;
  const int Error = errno;
  if (IsFile)
    std::remove(Target.c_str());
  return cannotWrite(Path, Error);
}
