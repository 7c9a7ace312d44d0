// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that commands read and write.
#ifndef CRSAN_TOOLS_FILES_H
#define CRSAN_TOOLS_FILES_H

#include "Report/ReportFile.h"

#include <optional>
#include <string>
#include <variant>

namespace crsan {

/// Exit codes of commands, beside 0 and those of fail().
enum ExitCode : int { ExitRacy = 66, ExitNothingChecked = 67, ExitFailed = 68 };

/// Prints "CRSan: MESSAGE" on the standard error. Returns 1, the exit code of
/// commands that could not do what they were asked for.
int fail(const std::string &Message);

/// The whole file, or nothing, with errno set: it cannot be opened, or reading
/// fails as it does for folders and for the files in /proc of a process that
/// has just ended. "-" is the standard input.
std::optional<std::string> readFile(const std::string &Path);

/// Reads recorded runs; "-" is the standard input. The error is one line, which
/// names the file.
std::variant<ReportFile, ReportFileError> readReport(const std::string &Path);

/// Why writeText would fail, as far as that is known beforehand, in one line.
std::optional<std::string> whyNotWritable(const std::string &Path);

/// Writes the whole text, or nothing; "" or "-" is the standard output. On an
/// error: why not, in one line.
std::optional<std::string> writeText(const std::string &Path,
                                     const std::string &Text);

} // namespace crsan

#endif // CRSAN_TOOLS_FILES_H
