// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report for other tools.
#ifndef CRSAN_REPORT_SARIFREPORT_H
#define CRSAN_REPORT_SARIFREPORT_H

#include "Report/TextReport.h"

#include <string>

namespace crsan {

/// The findings as a SARIF 2.1.0 log of one run, newline at the end. The other
/// side of a finding is its related location.
std::string renderSARIF(const Report &R, const TextOptions &Options = {});

} // namespace crsan

#endif // CRSAN_REPORT_SARIFREPORT_H
