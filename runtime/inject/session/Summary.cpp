// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run did.

#include "session/Summary.h"

#include "session/Collector.h"

#include <fmt/format.h>

#include <algorithm>

namespace crsan {

/// Bytes >> MiB.
static constexpr unsigned MiB = 20;

/// The likeliest reason for unchecked accesses. The device does not count the
/// reasons apart.
static std::string whyUnchecked(const Flags &Options, const Context &C,
                                const TrackedMemory &Got) {
  if (Got.None) {
    const std::string Why = "there was no room for more shadow";
    if (Options.shadow_limit)
      return fmt::format("{}, raise shadow_limit, which is {} MiB", Why,
                         Options.shadow_limit);
    return Options.shadow == "cached" ? Why
                                      : Why + ", shadow=cached needs less";
  }
  if (C.LastMetadata.IsUsedUp || C.TheShadow->wasReset())
    return "kernels synchronised more often than clocks can count, which start "
           "again at cudaDeviceSynchronize()";
  if (C.LastMetadata.SitesRefused)
    return "the program has too many sites";
  return "memory is tracked if it is of the program's allocations and "
         "variables, but not in-kernel malloc's or another device's";
}

/// Adds how much of one context metadata mode checked, and how exactly.
static void addShadow(RunSummary &Summary, const Flags &Options,
                      const Context &C) {
  if (!C.CanShadow)
    Summary.Notes.push_back(fmt::format(
        "metadata mode was off on device {}: no memory for its tables",
        C.Device));
  if (!C.TheShadow)
    return;
  if (!Summary.Metadata)
    Summary.Metadata.emplace();
  MetadataSummary &Sum = *Summary.Metadata;
  const TrackedMemory Got = C.TheShadow->tracked();
  Sum.Checked += C.LastAccesses.Checked;
  Sum.Unchecked += C.LastAccesses.Unchecked;
  Sum.Sites += C.LastMetadata.NumSites;
  Sum.GridsLeftOut += C.LastMetadata.GridsLeftOut;
  Sum.BlocksLeftOut += C.LastBlocksLeftOut;
  Sum.GridsStopped += C.LastMetadata.Limit.GridsStopped;
  Sum.RacesUntold += C.LastMetadata.RacesUntold;
  Sum.Exact += Got.Exact;
  Sum.Cached += Got.Cached;
  Sum.None += Got.None;
  if (C.LastAccesses.Unchecked && Sum.WhyUnchecked.empty())
    Sum.WhyUnchecked = whyUnchecked(Options, C, Got);
  if (Got.None || (Got.Cached && Options.shadow != "cached"))
    Summary.Notes.push_back(fmt::format(
        "metadata mode: no room on device {} for exact shadow of all memory "
        "of the program: at most {} MiB were tracked exactly, {} MiB by a "
        "cache, which may miss races, and {} MiB not at all",
        C.Device, Got.Exact >> MiB, Got.Cached >> MiB, Got.None >> MiB));
  if (uint64_t Calls = C.LastMetadata.ForeignCalls)
    Summary.Notes.push_back(fmt::format(
        "metadata mode: {} calls on device {} were of functions that were "
        "compiled without it: it did not see what these access, and may miss "
        "races of other code, since they may have synchronised",
        Calls, C.Device));
}

static const char *words(NoCheck Why) {
  switch (Why) {
  case NoCheck::Memory:
    return "of memory that is not known to be the device's";
  case NoCheck::Captured:
    return "in graphs";
  case NoCheck::Early:
    return "before instrumented code was loaded";
  case NoCheck::Order:
    return "while the order of launches was not known";
  case NoCheck::Waiting:
    return "while a kernel may have been waiting for them";
  case NoCheck::Code:
    return "before their check could be loaded without waiting for kernels";
  case NoCheck::Places:
    return "at too many places of the program";
  case NoCheck::Batch:
    return "in batches";
  case NoCheck::Refused:
    return "because the driver refused";
  }
  return "";
}

static void addOperations(RunSummary &Summary, const OperationCounts &Counts) {
  Summary.OperationsChecked = Counts.Checked;
  for (size_t I = 0; I < NumNoChecks; ++I)
    if (const uint64_t Number = Counts.Unchecked[I]) {
      std::string &Why = Summary.WhyOperationsUnchecked;
      Why += fmt::format("{}{} {}", Why.empty() ? "" : ", ", Number,
                         words(NoCheck(I)));
      Summary.OperationsUnchecked += Number;
    }
}

RunSummary summarise(const Flags &Options, const Modules &Code,
                     std::span<const std::shared_ptr<Context>> Contexts,
                     const LaunchCounts &Launches,
                     const OperationCounts &Operations) {
  RunSummary Summary;
  if (std::ranges::any_of(Contexts, [](const std::shared_ptr<Context> &C) {
        return C->hasCheckedCode();
      }))
    addOperations(Summary, Operations);
  Summary.KernelsLaunched = Launches.Checked;
  Summary.KernelsFailed = Launches.Failed;
  Summary.KernelsNotInstrumented = Launches.NotInstrumented;
  Summary.KernelsSwitchedOff = Launches.SwitchedOff;
  Summary.KernelsLeftOut = Launches.LeftOut;
  Summary.KernelsByTwins = Launches.ByTwins;
  Summary.Seed = Options.seed;
  Summary.DelayNs = Options.delay_ns;
  Summary.Budget = Options.budget;
  Summary.Overhead = Options.overhead;
  Summary.WarpOneIn = Options.warpOneIn();
  Summary.MaxInterval = Options.max_interval;
  Code.summarise(Summary);
  for (const std::shared_ptr<Context> &C : Contexts) {
    Summary.Budget = std::max(Summary.Budget, C->budget(Options));
    CheckCounts Counts = sumShards(C->LastCounters);
    Summary.Checks += Counts.Checks + C->LastAccesses.Checked;
    Summary.WindowsChecked += Counts.Windows;
    Summary.DroppedRecords += C->dropped();
    Summary.CountsComplete &= C->UnreadLaunches == 0;
    if (C->Failure != CUDA_SUCCESS)
      Summary.Notes.push_back(fmt::format(
          "on device {} a kernel failed ({}): what followed was not "
          "checked",
          C->Device, C->FailureName));
    addShadow(Summary, Options, *C);
    if (uint64_t Sides = C->LastCounters.UnknownBoxes)
      Summary.Notes.push_back(fmt::format(
          "{} times on device {} what a tensor copy reads or writes was not "
          "checked: its tensor map was changed on the device, is of a kind "
          "that is not followed, or is one of too many; or the copy stores a "
          "box that reaches beyond the tensor",
          Sides, C->Device));
  }
  if (Launches.NotShadowed)
    Summary.Notes.push_back(fmt::format(
        "{} launches of kernels that were compiled without metadata "
        "mode: it did not see what they access",
        Launches.NotShadowed));
  return Summary;
}

} // namespace crsan
