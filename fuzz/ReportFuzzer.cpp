// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Report files: whatever is read can be printed in every format, and what is
// written is read as the same report.
#include "Report/CiReports.h"
#include "Report/Comparison.h"
#include "Report/ReportFile.h"
#include "Report/SarifReport.h"
#include "Report/TextReport.h"

#include <cstdlib>

using namespace crsan;

static void require(bool Holds) {
  if (!Holds)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const std::string_view Text(reinterpret_cast<const char *>(Data), Size);
  auto Parsed = parseReportFile(Text);
  if (auto *Error = std::get_if<ReportFileError>(&Parsed)) {
    require(!Error->Message.empty());
    return 0;
  }
  auto &File = std::get<ReportFile>(Parsed);
  const Report R = buildReport(File);
  const std::string Printed = renderText(R);
  renderSARIF(R);
  renderJUnit(R);
  renderCodeQuality(R);

  auto Again = parseReportFile(writeReportFile(File, R));
  require(std::holds_alternative<ReportFile>(Again));
  const Report Reread = buildReport(std::get<ReportFile>(Again));
  require(Reread.Findings.size() == R.Findings.size());
  const Comparison C = compare(R, Reread);
  require(C.Persistent.size() == R.Findings.size());

  ReportFile Both;
  Both.add(File);
  Both.add(std::get<ReportFile>(Again));
  renderText(buildReport(Both));
  return 0;
}
