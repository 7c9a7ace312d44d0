// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run did.
#ifndef CRSAN_INJECT_SESSION_SUMMARY_H
#define CRSAN_INJECT_SESSION_SUMMARY_H

#include "common/Flags.h"
#include "operations/StreamOperation.h"
#include "session/Context.h"
#include "session/Modules.h"

#include <cstdint>
#include <memory>
#include <span>

namespace crsan {

/// Launches, by outcome.
struct LaunchCounts {
  uint64_t Checked = 0, Failed = 0, NotInstrumented = 0;
  uint64_t SwitchedOff = 0; ///< Instrumented, but checks could not be made.
  uint64_t LeftOut = 0;     ///< As the options kernels and launches ask.
  uint64_t ByTwins = 0;     ///< Native twins ran, as launch_one_in asks.
  uint64_t NotShadowed = 0; ///< Of Checked: metadata mode did not follow them.
};

/// Tells what was checked, and what a report without findings means. Calls no
/// driver function. The caller holds the session's data lock.
RunSummary summarise(const Flags &Options, const Modules &Code,
                     std::span<const std::shared_ptr<Context>> Contexts,
                     const LaunchCounts &Launches,
                     const OperationCounts &Operations);

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_SUMMARY_H
