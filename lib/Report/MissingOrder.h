// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What would have ordered two accesses.
#ifndef CRSAN_REPORT_MISSINGORDER_H
#define CRSAN_REPORT_MISSINGORDER_H

#include "Report/Finding.h"

#include <string>

namespace crsan {

/// Of a two-sided finding: what there was of synchronisation between the two
/// accesses, and what would order them.
std::string whatIsMissing(const Finding &F);

} // namespace crsan

#endif // CRSAN_REPORT_MISSINGORDER_H
