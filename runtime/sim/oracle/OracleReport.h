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
#include <optional>
#include <vector>

namespace crsan::sim {

/// Lines of an instruction, innermost first (Machine::where()); names of
/// functions may be mangled.
using LinesOf = std::function<std::vector<SourceFrame>(int32_t Instruction)>;

/// The line of the program where an operation of a stream was asked for, by
/// what Observer::streamOp() was told; none: not known.
using CallerOf = std::function<std::optional<SourceFrame>(uint32_t MadeAt)>;

/// Whether the lines, as LinesOf has them, are those of a __syncthreads() and
/// of nothing else.
using IsBarrierAt = std::function<bool(const std::vector<SourceFrame> &Lines)>;

/// The arguments of buildReport(). The occurrences are first those of
/// O.findings(), in that order.
ReportFile oracleRecords(const Oracle &O, const LinesOf &Lines,
                         const CallerOf &Caller = {},
                         const IsBarrierAt &IsBarrier = {});

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_ORACLEREPORT_H
