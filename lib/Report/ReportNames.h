// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keywords of the report format.
//
// The texts that stand for enumerators in a report file
// (docs/report-format.md), for its reader and its writer.
#ifndef CRSAN_REPORT_REPORTNAMES_H
#define CRSAN_REPORT_REPORTNAMES_H

#include "Report/StrictJSON.h"
#include "crsan/abi/Record.h"

namespace crsan {

// Never destroyed: a run is saved after the program's destructors.
const Names<abi::RaceKind> &kindNames();
extern const Names<abi::AccessKind> &AccessNames;
extern const Names<abi::Scope> &ScopeNames;
extern const Names<abi::MemoryOrder> &OrderNames;
extern const Names<abi::RaceReasons> &ReasonNames;
extern const Names<abi::Space> &SpaceNames;

} // namespace crsan

#endif // CRSAN_REPORT_REPORTNAMES_H
