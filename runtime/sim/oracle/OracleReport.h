// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the oracle found, as records.
//
// A race of the oracle's becomes a two-sided record, and each of its sides a
// site, so that lib/Report merges, explains and prints the races of the oracle
// as it does those of the other detectors.
#ifndef CRSAN_SIM_ORACLE_ORACLEREPORT_H
#define CRSAN_SIM_ORACLE_ORACLEREPORT_H

#include "Oracle.h"
#include "Report/ReportFile.h"

#include <functional>
#include <vector>

namespace crsan::sim {

/// Lines of an instruction, innermost first (Machine::where()); names of
/// functions may be mangled.
using LinesOf = std::function<std::vector<SourceFrame>(int32_t Instruction)>;

ReportFile oracleRecords(const Oracle &O, const LinesOf &Lines);

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_ORACLEREPORT_H
