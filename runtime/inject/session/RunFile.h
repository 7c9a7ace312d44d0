// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file that a run is saved in.
#ifndef CRSAN_INJECT_SESSION_RUNFILE_H
#define CRSAN_INJECT_SESSION_RUNFILE_H

#include "common/Flags.h"

#include <optional>
#include <string>

namespace crsan {

struct ReportFile;
struct TextOptions;

/// The form of the file that log_path names.
enum class LogFormat : uint8_t {
  Text, ///< Log writes it.
  JSON,
  SARIF,
};

/// What `format` says, or else the extension of log_path.
LogFormat logFormat(const Flags &Options);

/// Why log_path and format do not fit, without a prefix.
std::optional<std::string> checkLogPath(const Flags &Options);

/// How the log's text looks.
TextOptions textOptions(const Flags &Options);

/// Remembers where crsan run, which may have started the program, wants to have
/// what each process records. The program may change its environment later.
void rememberRunner();

/// Whether what is recorded is kept in a file: that of log_path if it is no
/// text, or that of crsan run.
bool isSaved(const Flags &Options);

/// Writes all that is recorded so far to the process's files, in place of what
/// was written there before. A reader never sees a part of it. Unless
/// `IsWhole`, the files say that their process has not reported its end.
void saveRun(const Flags &Options, ReportFile Recorded, bool IsWhole);

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_RUNFILE_H
