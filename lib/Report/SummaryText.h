// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run checked, as text.
#ifndef CRSAN_REPORT_SUMMARYTEXT_H
#define CRSAN_REPORT_SUMMARYTEXT_H

#include "Report/Finding.h"

#include <string>

namespace crsan {

/// The lines behind the findings: warnings, what was checked, and the SUMMARY
/// line.
std::string summaryText(const Report &R);

} // namespace crsan

#endif // CRSAN_REPORT_SUMMARYTEXT_H
