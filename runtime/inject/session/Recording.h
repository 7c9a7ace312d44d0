// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this process has found, in a file for other tools.
//
// With `format=json` or `format=sarif`, `log_path` names a file that holds the
// whole report. It is written anew whenever there is more to report, under
// another name first, so that a reader never sees half of it.
#ifndef CRSAN_INJECT_SESSION_RECORDING_H
#define CRSAN_INJECT_SESSION_RECORDING_H

#include "Report/ReportFile.h"

#include <string>

namespace crsan {

struct Flags;

class Recording {
public:
  /// \p Options: log_path and format. Nothing is recorded unless they ask.
  explicit Recording(const Flags &Options);

  bool isWanted() const { return IsWanted; }

  /// Forgets what was added: the report is made once more.
  void clear();
  /// Adds what one detector has found, without what is suppressed.
  void add(std::span<const Occurrence> Occurrences, const SiteTable &Sites,
           const Report &R);
  /// Adds a line for the summary.
  void note(std::string Line);
  /// Writes what was added. A failure is said once, in one line.
  void write();

private:
  std::string render() const;

  const Flags &Options;
  const bool IsWanted;
  ReportFile File;
  bool IsEmpty = true;
  std::vector<std::string> Notes;
  std::string Path; ///< Empty: not chosen yet.
  int Owner = 0;    ///< The process that chose the path.
  bool HasFailed = false;
};

/// The process's one recording. Never destroyed.
Recording &theRecording();

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_RECORDING_H
