// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kind of race means.
//
// One text for each kind, for `crsan explain`, for the rules of a SARIF log,
// and for findings of which nothing more is known.
#ifndef CRSAN_REPORT_KINDGUIDE_H
#define CRSAN_REPORT_KINDGUIDE_H

#include "Report/Finding.h"

#include <span>
#include <string>

namespace crsan {

struct KindGuide {
  abi::RaceKind Kind;
  /// What reports the kind: collider, metadata, oracle; operation: metadata and
  /// the oracle; host: the oracle, of programs with instrumented host code;
  /// barrier: metadata mode and the oracle; any: every run.
  const char *Detector;
  const char *Meaning;
  const char *Reading; ///< How to read a finding of this kind.
  /// Two whole programs: the first one races, the second one is the remedy.
  const char *Racy;
  const char *Fixed;
};

/// One for each kind of allKindWords(), in that order.
std::span<const KindGuide> allKindGuides();
/// Null: there is no such kind.
const KindGuide *guideTo(abi::RaceKind Kind);

/// The guide as text, the programs indented.
std::string guideText(const KindGuide &G);
/// The guide in Markdown, the programs in blocks of code.
std::string guideMarkdown(const KindGuide &G);

} // namespace crsan

#endif // CRSAN_REPORT_KINDGUIDE_H
