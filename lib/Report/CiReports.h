// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report in the forms that CI systems show.
#ifndef CRSAN_REPORT_CIREPORTS_H
#define CRSAN_REPORT_CIREPORTS_H

#include "Report/TextReport.h"

#include <string>

namespace crsan {

/// JUnit XML: one test suite, in which each finding is a test case that fails.
/// A report without findings is one test case, which passes, or, if nothing was
/// checked, has an error.
std::string renderJUnit(const Report &R, const TextOptions &Options = {});

/// GitLab's Code Quality report: a JSON array of the findings that have a place
/// in the source. Paths should be relative to the repository:
/// TextOptions::StripPathPrefix.
std::string renderCodeQuality(const Report &R, const TextOptions &Options = {});

} // namespace crsan

#endif // CRSAN_REPORT_CIREPORTS_H
