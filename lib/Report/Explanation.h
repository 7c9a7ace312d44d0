// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why a finding is a race, in words.
#ifndef CRSAN_REPORT_EXPLANATION_H
#define CRSAN_REPORT_EXPLANATION_H

#include "Report/Finding.h"

#include <string>

namespace crsan {

/// How to read a finding, in a sentence or two. Of a two-sided finding: the
/// synchronisation that was missing, in the voice of the oracle's explainRace.
std::string explain(const Finding &F);

} // namespace crsan

#endif // CRSAN_REPORT_EXPLANATION_H
