// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report as a web page.
#ifndef CRSAN_REPORT_HTMLREPORT_H
#define CRSAN_REPORT_HTMLREPORT_H

#include "Report/TextReport.h"

#include <string>

namespace crsan {

/// One HTML file that needs nothing else: style, script and the report, which
/// the script shows. The source around each access is read now and becomes part
/// of the page.
std::string renderHTML(const Report &R, const TextOptions &Options = {});

} // namespace crsan

#endif // CRSAN_REPORT_HTMLREPORT_H
