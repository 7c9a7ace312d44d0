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

/// Writes all that is recorded so far to the process's file, in place of what
/// was written there before. A reader never sees a part of it. Does nothing
/// where the log is text.
void saveRun(const Flags &Options, const ReportFile &Recorded);

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_RUNFILE_H
