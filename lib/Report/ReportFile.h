// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run recorded, as JSON.
//
// Sites, records and a summary in a form that people can read, write and attach
// to a bug report; docs/report-format.md describes it.
#ifndef CRSAN_REPORT_REPORTFILE_H
#define CRSAN_REPORT_REPORTFILE_H

#include "Report/Coverage.h"
#include "Report/Finding.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crsan {

/// What one or several runs recorded: the arguments of buildReport.
struct ReportFile {
  SiteTable Sites;
  std::vector<Occurrence> Occurrences;
  RunSummary Summary;
  std::vector<RunInfo> Runs; ///< Empty: one, of which nothing else is known.
  Coverage Checked;          ///< With the option `coverage`.

  /// Adds what other runs recorded, of the same program or of another one. The
  /// counts of what the runs did are added up; of what the programs consist of
  /// (sites, windows, modules) the largest is kept.
  void add(const ReportFile &Other);

  /// Takes all that is recorded as that of one run, of several processes.
  void becomeOneRun(RunInfo Run);
};

/// A file of these records, with the sites that a report of them needs.
ReportFile recordOf(std::span<const Occurrence> Occurrences,
                    const SiteTable &Sites, RunSummary Summary,
                    std::vector<RunInfo> Runs);

/// buildReport of the file.
Report buildReport(const ReportFile &File);

/// Why the text was refused, and where: one line without a prefix.
struct ReportFileError {
  std::string Message;
};

/// Reads the whole text of a file. Nothing unknown is let pass: a misspelt key
/// is an error.
std::variant<ReportFile, ReportFileError>
parseReportFile(std::string_view Text);

/// The same in text, for `parseReportFile`, with only those sites that records
/// name, and with the findings of `R`, which a reader makes anew. Damaged
/// records are left out: nothing could be read from them.
std::string writeReportFile(const ReportFile &File, const Report &R);

} // namespace crsan

#endif // CRSAN_REPORT_REPORTFILE_H
