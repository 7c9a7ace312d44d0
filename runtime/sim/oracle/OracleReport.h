//===- OracleReport.h - Findings of the oracle, as text ---------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format is that of lib/Report/TextReport.h; a finding here has two sides.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_SIM_ORACLE_ORACLEREPORT_H
#define CRSAN_SIM_ORACLE_ORACLEREPORT_H

#include "Oracle.h"
#include "Report/SiteTable.h"
#include "Report/TextReport.h"

#include <functional>
#include <string>
#include <vector>

namespace crsan::sim {

/// Lines of an instruction, innermost first (Machine::where()); names of
/// functions may be mangled.
using LinesOf = std::function<std::vector<SourceFrame>(int32_t Instruction)>;

/// Races of one pair of places in the source.
struct OracleFinding {
  RaceFinding First;                       ///< What was seen first.
  std::vector<SourceFrame> Earlier, Later; ///< Empty: not known, or a copy.
  uint64_t Count = 0;
  std::string Missing; ///< As RaceFinding's, with the lines of the source.
};

struct OracleReport {
  std::vector<OracleFinding> Findings; ///< As crsan::Report sorts them.
  OracleCounts Counts;
  /// Lines to print as they are.
  std::vector<std::string> Notes;
};

OracleReport buildOracleReport(const Oracle &O, const LinesOf &Lines);

/// Findings, what was checked, and a SUMMARY line; newline at the end.
std::string renderText(const OracleReport &R, const TextOptions &Options = {});

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_ORACLEREPORT_H
