// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The members of a summary in JSON.
//
// One list for the writer, which visits a constant summary, and the reader.
#ifndef CRSAN_REPORT_SUMMARYFIELDS_H
#define CRSAN_REPORT_SUMMARYFIELDS_H

#include "Report/Finding.h"

#include <concepts>
#include <type_traits>

namespace crsan {

template <typename T, typename Of>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Of>;

void visitFields(MaybeConst<MetadataSummary> auto &S, auto Visit) {
  Visit("checks", S.Checked);
  Visit("unchecked", S.Unchecked);
  Visit("why_unchecked", S.WhyUnchecked);
  Visit("launches_not_followed", S.GridsLeftOut);
  Visit("blocks_not_followed", S.BlocksLeftOut);
  Visit("launches_followed_in_part", S.GridsStopped);
  Visit("races_untold", S.RacesUntold);
  Visit("sites", S.Sites);
  Visit("exact_bytes", S.Exact);
  Visit("cached_bytes", S.Cached);
  Visit("untracked_bytes", S.None);
}

void visitFields(MaybeConst<HostSummary> auto &S, auto Visit) {
  Visit("sites", S.Sites);
  Visit("executed", S.Executed);
  Visit("checks", S.Checked);
  Visit("refused", S.Refused);
  Visit("noted", S.Noted);
  Visit("judged", S.Judged);
  Visit("skipped", S.Skipped);
  Visit("exempt", S.Exempt);
}

void visitFields(MaybeConst<OracleSummary> auto &S, auto Visit) {
  Visit("grids", S.Grids);
  Visit("blocks", S.Blocks);
  Visit("threads", S.Threads);
  Visit("accesses", S.Accesses);
  Visit("fences", S.Fences);
  Visit("barriers", S.Barriers);
  Visit("copies", S.Copies);
  Visit("exempt", S.Exempt);
  Visit("host_accesses", S.HostAccesses);
}

/// All but the notes and the summaries of metadata mode, of host code and of
/// the oracle.
void visitFields(MaybeConst<RunSummary> auto &S, auto Visit) {
  Visit("kernels_launched", S.KernelsLaunched);
  Visit("kernels_failed", S.KernelsFailed);
  Visit("kernels_not_instrumented", S.KernelsNotInstrumented);
  Visit("kernels_switched_off", S.KernelsSwitchedOff);
  Visit("kernels_left_out", S.KernelsLeftOut);
  Visit("kernels_without_checks", S.KernelsByTwins);
  Visit("sites", S.Sites);
  Visit("windows", S.Windows);
  Visit("checks", S.Checks);
  Visit("windows_checked", S.WindowsChecked);
  Visit("operations_checked", S.OperationsChecked);
  Visit("operations_unchecked", S.OperationsUnchecked);
  Visit("why_operations_unchecked", S.WhyOperationsUnchecked);
  Visit("dropped_records", S.DroppedRecords);
  Visit("skipped_accesses", S.SkippedAccesses);
  Visit("exempt_accesses", S.ExemptAccesses);
  Visit("suppressed", S.Suppressed);
  Visit("seed", S.Seed);
  Visit("delay_ns", S.DelayNs);
  Visit("budget", S.Budget);
  Visit("overhead", S.Overhead);
  Visit("warp_one_in", S.WarpOneIn);
  Visit("max_interval", S.MaxInterval);
  Visit("counts_complete", S.CountsComplete);
  Visit("shuffled", S.Shuffled);
  Visit("simulated", S.IsSimulated);
  Visit("adds_checks", S.AddsChecks);
  Visit("modules", S.Modules);
  Visit("processes", S.Processes);
  Visit("unheard", S.IsUnheard);
}

} // namespace crsan

#endif // CRSAN_REPORT_SUMMARYFIELDS_H
