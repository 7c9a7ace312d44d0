// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run found, ready to be printed.
//
// Records become findings here, and only here: occurrences at one place of the
// source become one finding, however many modules, contexts, devices or
// instances of a template they came from. Printers only print.
#ifndef CRSAN_REPORT_FINDING_H
#define CRSAN_REPORT_FINDING_H

#include "Report/Coverage.h"
#include "Report/SiteTable.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace crsan {

/// Of a block in its grid, or of a thread in its block; x first.
using Index3 = std::array<uint32_t, 3>;

/// One run of a program, of those that a report sums up.
struct RunInfo {
  uint32_t Seed = 0;
  std::string Program = {}; ///< The command line; empty: not known.
  std::string Replay =
      {}; ///< The command that repeats the run; empty: none does.
  /// How the program ended, if it failed: "exit code 3", "signal 11 (SIGSEGV)".
  std::string Failure = {};

  bool operator==(const RunInfo &) const = default;
};

/// A kind beside those of the ABI, which devices record: a kernel failed, as
/// the host was told (Occurrence::Fault). Its records accuse no access, and
/// have no values; their one lane is the thread's, or none if the thread is not
/// known.
inline constexpr auto KernelFault = abi::RaceKind(128);

/// One complete device record and how often its race happened. Block indices
/// are those that the program saw.
struct Occurrence {
  abi::Record Rec{};
  uint64_t Count = 0;   ///< 0 is read as 1: the record itself.
  bool AtLeast = false; ///< Count is a lower bound.
  int Device = 0;       ///< CUDA device ordinal.
  uint32_t Run = 0;     ///< Index of the run.
  Index3 Grid{};        ///< The grid's extent; zero: not known.
  Index3 BlockShape{};  ///< Its blocks' extent; zero: not known.
  /// The same of the earlier thread's grid, if it is another one.
  Index3 EarlierGrid{}, EarlierBlockShape{};
  /// What is at the address, in words; empty: not known.
  std::string Memory = {};
  /// Where the host allocated that memory, and launched the later thread's
  /// kernel: "app.cu:41 in main"; empty: not known.
  std::string AllocatedAt = {}, LaunchedAt = {};
  /// Of a race by a kernel of which one side is known: where the host has
  /// written this location while work was pending, so that it may be the other
  /// side.
  std::string HostWroteAt = {};
  /// With abi::LaterUnfenced: ids of the sites that read what the earlier
  /// thread told; empty: any of the later thread's kernel may have.
  std::vector<uint64_t> Told = {};
  /// Why it is a race, in the words of a detector that knows more than kind and
  /// reasons can say; empty: these say it.
  std::string Explanation = {};
  /// Of a KernelFault: what happened, "invalid address"; Explanation has the
  /// particulars.
  std::string Fault = {};
};

/// threadIdx of the record's thread.
Index3 threadIndex(const abi::Record &Rec);

/// Of the collider's kinds: whether the threads are lanes of one warp.
bool isIntraWarp(abi::RaceKind Kind);
/// Whether records of this kind have abi::TwoSided.
bool hasTwoSides(abi::RaceKind Kind);

/// The earlier thread of a two-sided record, as far as it is known.
struct EarlierThread {
  uint32_t Linear = 0;              ///< Linear index in the block.
  std::optional<Index3> Index;      ///< The same, where the shape is known.
  std::optional<uint64_t> Block;    ///< Linear index in the grid.
  std::optional<Index3> BlockIndex; ///< The same, where the extent is known.
};

/// The places of the threads that the records of a finding show, of two threads
/// the later one's. A record is the first race of its kind and its sites, not
/// each race: the numbers count records.
struct RecordPlaces {
  std::map<Index3, uint64_t> Blocks;
  std::array<uint64_t, 32> Lanes{}; ///< By lane of the warp, where it is known.
};

/// Races of one kind at one place (for a conflict within a warp: at one pair of
/// places) of the source. Two-sided: races of any kind at one pair of places,
/// whichever came first.
struct Finding {
  /// What was seen first: kind, block, thread, lanes, values, address.
  /// Two-sided: of the threads that are farthest apart, for what orders these
  /// orders nearer ones, and not the other way round.
  abi::Record First{};
  std::optional<SiteInfo> Site;  ///< Empty if no table names First.Site.
  std::optional<SiteInfo> Other; ///< Empty if not known, as First.Other == 0.
  /// Companions of the two, of which each races with the other side and its
  /// companions wherever they conflict; without those that have findings of
  /// their own.
  std::vector<CompanionInfo> AlsoSite, AlsoOther;
  uint64_t Count = 0;
  bool AtLeast = false;
  std::vector<int> Devices; ///< In order of appearance, no duplicates.
  /// The runs that show it: indices into Report::Runs, ascending.
  std::vector<uint32_t> Runs;
  RecordPlaces Places;
  /// The kernels in which this place raced, demangled, no duplicates; where the
  /// kernel is not known, the outermost function. Several for templates.
  std::vector<std::string> Instances;
  /// Kinds beside the first's, of a two-sided finding: the distance of the two
  /// threads decides the kind, and one missing barrier shows at several.
  std::vector<abi::RaceKind> OtherKinds;
  /// With abi::LaterUnfenced: the strong accesses of the later thread's kernel
  /// that may have read what the earlier thread told.
  std::vector<SiteInfo> Told;
  /// Of races within a warp: threads of different warps race here, too, in
  /// another finding.
  bool HasWider = false;
  // Of the first seen; as Occurrence's.
  Index3 Grid{}, BlockShape{};
  Index3 EarlierGrid{}, EarlierBlockShape{};
  std::string Explanation = {}, Fault = {};
  std::string Memory; ///< The same, or the variable that the site accesses.
  std::string AllocatedAt = {}, LaunchedAt = {}, HostWroteAt = {};

  abi::RaceKind kind() const { return First.Kind; }
  bool isFault() const { return kind() == KernelFault; }
  /// Whether the record tells which thread it was.
  bool knowsThread() const { return !isFault() || First.Lanes; }
  /// Both sides are known, and what was missing between them (abi::TwoSided).
  bool isTwoSided() const { return First.Flags & abi::TwoSided; }
  /// abi::RaceReasons, with those that follow from others.
  uint64_t reasons() const;
  Index3 thread() const; ///< threadIdx of the first seen.
  EarlierThread earlierThread() const;
  /// Where the record says no more than "generic", the space that the access
  /// names in the source.
  abi::Space space() const;
  /// Bytes accessed, 0 if not known; `sizeIsLowerBound` for 255 and more.
  uint32_t size() const;
  bool sizeIsLowerBound() const;
};

/// What metadata mode did in a run.
struct MetadataSummary {
  uint64_t Checked = 0, Unchecked = 0; ///< Accesses, one a thread.
  uint64_t Sites = 0;                  ///< That were executed.
  std::string WhyUnchecked;
  uint64_t GridsLeftOut = 0;  ///< Launches that were not followed.
  uint64_t BlocksLeftOut = 0; ///< The same, of launches that were in part.
  uint64_t GridsStopped = 0;  ///< Launches that were not followed to their end.
  /// How often a possible race was not told, since a launch that was not
  /// followed, or not to its end, may have ordered the accesses.
  uint64_t RacesUntold = 0;
  /// Bytes of the program's memory, at most, by how they were tracked.
  uint64_t Exact = 0, Cached = 0, None = 0;
};

/// What was checked of host code in a run. An execution counts if it found its
/// memory within reach of a GPU with work that the host had not waited for.
struct HostSummary {
  uint64_t Sites = 0;
  uint64_t Executed = 0;
  uint64_t Checked = 0;
  uint64_t Refused = 0; ///< Chosen for a check, which could not be made then.
  /// In metadata mode: chosen to be judged by the order of streams, and judged.
  uint64_t Noted = 0, Judged = 0;
  uint64_t Skipped = 0; ///< Accesses not checked; decided by the compiler.
  uint64_t Exempt = 0;  ///< Accesses not checked; as the user asked.
};

/// What the oracle of the simulated GPU saw in a run.
struct OracleSummary {
  uint64_t Grids = 0, Blocks = 0, Threads = 0;
  uint64_t Accesses = 0; ///< By threads, one a thread.
  uint64_t Fences = 0;
  uint64_t Barriers = 0;     ///< Arrivals.
  uint64_t Copies = 0;       ///< And fills, of streams.
  uint64_t Exempt = 0;       ///< Accesses not checked, as the program asks.
  uint64_t HostAccesses = 0; ///< By host code, of memory that GPUs reach.
};

/// What a run did, for the reader who wants to know what a silence is worth.
struct RunSummary {
  // Launches: each is counted in one of these six.
  uint64_t KernelsLaunched = 0; ///< Instrumented, and the launch succeeded.
  uint64_t KernelsFailed = 0;   ///< Refused, or ended by an error.
  uint64_t KernelsNotInstrumented = 0; ///< Ran unchecked.
  /// Ran unchecked though they are instrumented, for a reason that was said.
  uint64_t KernelsSwitchedOff = 0;
  uint64_t KernelsLeftOut = 0; ///< As the options kernels and launches ask.
  /// Ran as they are without checks, as the option launch_one_in asks.
  uint64_t KernelsByTwins = 0;

  uint64_t Sites = 0;   ///< Accesses that can be checked, in all modules.
  uint64_t Windows = 0; ///< The windows that they are in.
  uint64_t Checks = 0;  ///< Accesses checked, one a thread, in either mode.
  uint64_t WindowsChecked = 0; ///< Windows checked, one a warp.
  /// Copies and fills that were checked, and that could not be. Where all
  /// streams wait for each other they are in order, and are not counted.
  uint64_t OperationsChecked = 0, OperationsUnchecked = 0;
  std::string WhyOperationsUnchecked;
  uint64_t DroppedRecords = 0;  ///< Races that found the record buffer full.
  uint64_t SkippedAccesses = 0; ///< Not checked; decided by the compiler.
  uint64_t ExemptAccesses = 0;  ///< Not checked; as the user asked.
  uint64_t Suppressed = 0;      ///< Findings taken out; see Suppressions.h.
  uint32_t Seed = 0;
  uint32_t DelayNs = 0;
  uint32_t Budget = 0;      ///< As abi::Config; 0: every window is checked.
  uint32_t Overhead = 0;    ///< Of later checks, in percent; 0: not limited.
  uint32_t WarpOneIn = 0;   ///< As abi::Config.
  uint32_t MaxInterval = 0; ///< As abi::Config.
  /// Checks and WindowsChecked were read back from every context; otherwise
  /// they are lower bounds.
  bool CountsComplete = true;
  bool Shuffled = false; ///< Block indices were permuted.
  /// The run was on the simulated GPU, whose oracle needs no instrumentation.
  bool IsSimulated = false;
  /// The text of a process's report did not reach who reads the text of crsan
  /// run, or nobody at all.
  bool IsUnheard = false;
  /// Of a run of several: the processes that were checked; 0: not counted.
  uint64_t Processes = 0;
  /// Code that was built without checks got them when it was loaded, where that
  /// was possible; notes say where it was not.
  bool AddsChecks = false;
  uint32_t Modules = 0; ///< Instrumented translation units loaded.
  std::optional<MetadataSummary> Metadata; ///< Of runs in that mode, or both.
  std::optional<HostSummary> Host;         ///< If host code is instrumented.
  /// The report is the oracle's, which counts nothing else of the above.
  std::optional<OracleSummary> Oracle;
  /// Loud lines such as failed launches, without prefix, printed as they are.
  std::vector<std::string> Notes;

  /// Adds the summary of another run. What the runs did is added up; of what
  /// the programs consist of and were given the largest is kept.
  void add(const RunSummary &More);
};

/// What the run as a whole shows.
enum class Verdict {
  Racy, ///< There are findings.
  Clean,
  NothingChecked, ///< Silence means nothing.
  NotKnown, ///< No race seen, but the counts that would say what was checked
            ///< are lost or contradict each other.
};

struct Report {
  std::vector<Finding> Findings; ///< Most frequent first.
  RunSummary Summary;            ///< Of all runs together.
  /// What the report sums up; empty: one run, of which nothing else is known.
  std::vector<RunInfo> Runs;
  Coverage Checked; ///< Of all runs together; empty: not asked for.

  Verdict verdict() const;
  /// Whether there is a finding that is no fault.
  bool hasRaces() const;
  /// Nothing but metadata mode looked for races.
  bool hasOnlyMetadata() const {
    return Summary.Metadata && Summary.Windows == 0;
  }
  /// Something beside races that a user must hear of even when nothing else is
  /// printed: failed launches, lost records, notes.
  bool hasWarnings() const;
};

/// Merges the occurrences of one place and sorts: most frequent first, then by
/// file, line and column. Accesses without line information are only merged if
/// they are the same site. Records of no known kind are left out, with a note.
Report buildReport(std::span<const Occurrence> Occurrences,
                   const SiteTable &Sites, RunSummary Summary,
                   std::vector<RunInfo> Runs = {});

} // namespace crsan

#endif // CRSAN_REPORT_FINDING_H
