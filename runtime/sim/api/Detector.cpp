// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// detector=oracle.

#include "Detector.h"

#include "InlinedCalls.h"
#include "Process.h"
#include "Report/RunFilter.h"
#include "Report/Suppressions.h"
#include "Report/TextReport.h"
#include "common/CommandLine.h"
#include "common/Flags.h"
#include "common/Log.h"
#include "oracle/Oracle.h"
#include "oracle/OracleReport.h"
#include "session/Ending.h"
#include "session/LiveFindings.h"
#include "session/RunFile.h"

#include <iterator>
#include <map>
#include <unordered_map>

namespace crsan::api {

namespace {

/// An oracle that does not look at some ranges.
class FilteredOracle final : public Oracle {
public:
  using Oracle::Oracle;

  void ignore(const void *Begin, size_t Size) {
    Ignored.insert_or_assign(uint64_t(Begin), uint64_t(Begin) + Size);
  }

  void access(const ThreadRef &T, const Access &A) override {
    if (!isIgnored(A.Address))
      Oracle::access(T, A);
  }

private:
  bool isIgnored(uint64_t Address) const {
    auto After = Ignored.upper_bound(Address);
    return After != Ignored.begin() && Address < std::prev(After)->second;
  }

  std::map<uint64_t, uint64_t> Ignored; ///< Begin -> end.
};

/// One oracle a device: each sees a world of its own.
class Oracles final : public OracleDetector {
public:
  Oracles(Process &P, const Flags &Options, const std::string &Replay)
      : P(P), Options(Options), Run{.Seed = uint32_t(Options.seed),
                                    .Program = commandLine(),
                                    .Replay = Replay,
                                    .Failure = {}} {
    OracleOptions Choice;
    // It is compared with the program's instrumentation, line by line.
    Choice.KeepsEveryLine = Options.every_line && Options.detector == "both";
    Choice.FencesSynchronise = Options.fences_synchronise;
    if (runFilter().hasLaunches())
      Choice.Takes = [&Filter = runFilter()](uint64_t Launch) {
        return Filter.takesLaunch(Launch);
      };
    Choice.VolatileIsWeak = Options.volatile_ == "weak";
    for (int I = 0; I < P.deviceCount(); ++I) {
      Choice.Describe = [this, I](uint64_t Address, abi::Space Space,
                                  const std::string &Kernel) {
        return describe(I, Address, Space, Kernel);
      };
      Choice.MadeAt = [&P](uint64_t Address) { return P.madeAt(Address); };
      Each.push_back(std::make_unique<FilteredOracle>(Choice));
      P.device(I).M.setObserver(Each.back().get());
    }
    LookedAt.resize(Each.size());
  }

  bool sawRace() override {
    for (size_t I = 0; I < Each.size() && !HasRaces; ++I)
      HasRaces = sawRace(int(I));
    return HasRaces;
  }

  size_t countRaces() const override {
    size_t Count = 0;
    for (const std::unique_ptr<FilteredOracle> &O : Each)
      Count += O->findings().size();
    return Count;
  }

  void ignore(int Device, const void *Begin, size_t Size) override {
    Each[size_t(Device)]->ignore(Begin, Size);
  }

  void learn(std::span<const uint8_t> Table) override {
    auto Info = Sites.add(Table);
    if (auto *Module = std::get_if<ModuleInfo>(&Info))
      for (const VariableInfo &V : Module->Variables)
        // Of two that share a name, nothing is known.
        if (auto [It, IsNew] = Shapes.try_emplace(V.LinkageName, V);
            !IsNew && It->second != V)
          It->second.Element = 0;
  }

  bool print() override {
    if (!HasReported) {
      HasReported = true;
      if (countRaces() != 0)
        callSites().lookUp();
      for (size_t I = 0; I < Each.size(); ++I)
        printDevice(int(I));
    }
    return HasRaces;
  }

  ReportFile recorded() override {
    ReportFile All = recorded(0);
    for (size_t I = 1; I < Each.size(); ++I)
      All.add(recorded(int(I)));
    All.becomeOneRun(Run);
    return All;
  }

  bool hasChecked() const override { return HasChecked; }
  void reopen() override { HasReported = false; }

private:
  std::string describe(int Ordinal, uint64_t Address, abi::Space Space,
                       const std::string &Kernel) {
    const Machine &M = P.device(Ordinal).M;
    const bool IsShared = Space == abi::Space::Shared;
    const std::optional<PlaceInVariable> Place =
        IsShared ? M.sharedVariableAt(Kernel, SharedAddress::offset(Address))
                 : M.variableAt(Address);
    if (!Place)
      return IsShared ? "" : P.describeAllocation(Address);
    // Only the tables of an instrumented program tell of elements.
    VariableInfo V;
    V.LinkageName = Place->Name;
    V.Space = IsShared ? abi::Space::Shared : abi::Space::Global;
    const auto Known = Shapes.find(Place->Name);
    if (Known != Shapes.end() && Known->second.Element &&
        Known->second.Size == Place->Size)
      V = Known->second;
    return placeInVariable(V, Place->Offset);
  }

  /// What is found so far on a device, without what is suppressed.
  ReportFile recorded(int Ordinal) const {
    const Machine &M = P.device(Ordinal).M;
    const InlinedCalls Calls(Sites);
    const auto LinesOf = [&](int32_t Instruction) {
      std::vector<SourceFrame> Frames;
      for (const SourceLine &L : M.where(Instruction))
        Frames.push_back({L.Function, L.File, L.Line, L.Column});
      Calls.complete(Frames);
      return Frames;
    };
    const Oracle &O = *Each[size_t(Ordinal)];
    ReportFile File = oracleRecords(O, LinesOf, Ordinal);
    for (size_t I = 0; I < File.Occurrences.size(); ++I) {
      const RaceFinding &Race = O.findings()[I];
      File.Occurrences[I].AllocatedAt = callSites().text(Race.MadeAt);
      File.Occurrences[I].LaunchedAt = P.launchedAt(Race.Later.Name);
    }
    File.Summary.Seed = Run.Seed;
    File.Runs = {Run};
    runFilter().apply(File);
    suppressions().apply(File);
    return File;
  }

  bool sawRace(int Ordinal) {
    const size_t Races = Each[size_t(Ordinal)]->findings().size();
    if ((suppressions().isEmpty() && runFilter().isEmpty()) || Races == 0)
      return Races != 0;
    // Only a new race can be one that is not suppressed.
    size_t &Looked = LookedAt[size_t(Ordinal)];
    if (Races == Looked)
      return false;
    Looked = Races;
    return !recorded(Ordinal).Occurrences.empty();
  }

  void printDevice(int Ordinal) {
    const Report R = buildReport(recorded(Ordinal));
    const OracleSummary &Counts = *R.Summary.Oracle;
    HasRaces |= !R.Findings.empty();
    // A device that did nothing has nothing to say.
    bool IsIdle = Counts.Grids == 0 && R.Findings.empty();
    bool IsQuiet = R.verdict() == Verdict::Clean && !R.hasWarnings() &&
                   Options.verbosity == 0;
    HasChecked |= R.verdict() != Verdict::NothingChecked;
    if (IsQuiet || (IsIdle && Ordinal > 0))
      return;
    printFindings(liveFindings().rest(R, textOptions(Options), Options.print_again));
  }

  Process &P;
  const Flags &Options;
  const RunInfo Run;
  SiteTable Sites;
  std::unordered_map<std::string, VariableInfo> Shapes; ///< By name.
  std::vector<std::unique_ptr<FilteredOracle>> Each;
  std::vector<size_t> LookedAt; ///< Races that sawRace() knows of, by device.
  bool HasReported = false;
  bool HasRaces = false;
  bool HasChecked = false;
};

} // namespace

std::unique_ptr<OracleDetector> makeOracle(Process &P, const Flags &Options,
                                           const std::string &Replay) {
  return std::make_unique<Oracles>(P, Options, Replay);
}

} // namespace crsan::api
