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
#include "host/HostChecks.h"
#include "oracle/DeviceView.h"
#include "oracle/Oracle.h"
#include "oracle/OracleReport.h"
#include "session/Ending.h"
#include "session/KernelFaults.h"
#include "session/LiveFindings.h"
#include "session/RunFile.h"

#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

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

/// One oracle for all devices, through views if there are several.
class Detector final : public OracleDetector {
public:
  Detector(Process &P, const Flags &Options, const std::string &Replay)
      : P(P), Options(Options), Run{.Seed = uint32_t(Options.seed),
                                    .Program = commandLine(),
                                    .Replay = Replay,
                                    .Failure = {}},
        O(choose()) {
    if (P.deviceCount() == 1)
      P.device(0).M.setObserver(&O);
    for (int I = 0; P.deviceCount() > 1 && I < P.deviceCount(); ++I) {
      Views.push_back(std::make_unique<DeviceView>(O, I));
      P.device(I).M.setObserver(Views.back().get());
    }
  }

  bool sawRace() override {
    if (HasRaces)
      return true;
    // Meetings may be none that count.
    const size_t Races = O.findings().size() + O.meetings().size();
    if (Races == 0)
      return false;
    if (suppressions().isEmpty() && runFilter().isEmpty() &&
        !O.findings().empty())
      return HasRaces = true;
    // Only a new race can be one that is not suppressed.
    if (std::exchange(LookedAt, Races) == Races)
      return false;
    return HasRaces = !recorded().Occurrences.empty();
  }

  size_t countRaces() override {
    return O.meetings().empty() ? O.findings().size()
                                : recorded().Occurrences.size();
  }

  void ignore(int, const void *Begin, size_t Size) override {
    O.ignore(Begin, Size);
  }

  void hostAccess(const HostAccess &A, bool IsOfFunction) override {
    Access Told;
    Told.Flags = abi::flagsOf(A.Site.Access);
    Told.Address = A.Address;
    Told.Size = uint32_t(std::min<uint64_t>(A.Size, ~0u));
    Told.Instruction = hostInstruction(A.Site.Number);
    O.hostAccess(Told, IsOfFunction);
  }

  bool mayRaceWithHost() const override { return !O.isQuiet(); }

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
      printFound();
    }
    return HasRaces;
  }

  /// What is found so far, without what is suppressed.
  ReportFile recorded() override {
    const InlinedCalls Calls(Sites);
    const auto LinesOf = [&](int32_t Instruction) {
      std::vector<SourceFrame> Frames;
      if (isHostInstruction(Instruction)) {
        auto Site = hostChecks().siteOf(hostSiteOf(Instruction));
        return Site ? Site->Frames : Frames;
      }
      const Machine &M = P.device(int(DeviceView::deviceOf(Instruction))).M;
      for (const SourceLine &L :
           M.where(DeviceView::instructionOf(Instruction)))
        Frames.push_back({L.Function, L.File, L.Line, L.Column});
      Calls.complete(Frames);
      return Frames;
    };
    ReportFile File = oracleRecords(
        O, LinesOf, [](uint32_t MadeAt) { return callSites().frame(MadeAt); },
        [&](const std::vector<SourceFrame> &Frames) {
          return Calls.isBarrier(Frames);
        });
    for (size_t I = 0; I < O.findings().size(); ++I) {
      const RaceFinding &Race = O.findings()[I];
      File.Occurrences[I].AllocatedAt = callSites().text(Race.MadeAt);
      const RaceSide &Kernel =
          Race.Later.isHostCode() ? Race.Earlier : Race.Later;
      File.Occurrences[I].LaunchedAt = P.launchedAt(Kernel.Name);
    }
    File.Summary.Seed = Run.Seed;
    File.Runs = {Run};
    runFilter().apply(File);
    suppressions().apply(File);
    return File;
  }

  bool hasChecked() const override { return HasChecked; }
  void reopen() override { HasReported = false; }

private:
  OracleOptions choose() {
    OracleOptions Choice;
    // It is compared with the program's instrumentation, line by line.
    Choice.KeepsEveryLine = Options.every_line && Options.detector == "both";
    Choice.FencesSynchronise = Options.fences_synchronise;
    if (runFilter().hasLaunches())
      Choice.Takes = [&Filter = runFilter()](uint64_t Launch) {
        return Filter.takesLaunch(Launch & ((uint64_t(1) << GridBits) - 1));
      };
    Choice.VolatileIsWeak = Options.volatile_ == "weak";
    Choice.Describe = [this](uint64_t Address, abi::Space Space,
                             const std::string &Kernel) {
      return describe(Address, Space, Kernel);
    };
    Choice.MadeAt = [this](uint64_t Address) { return P.madeAt(Address); };
    return Choice;
  }

  std::optional<PlaceInVariable> variableAt(uint64_t Address, bool IsShared,
                                            const std::string &Kernel) {
    if (IsShared)
      return P.device(int(DeviceView::deviceOfShared(Address)))
          .M.sharedVariableAt(Kernel, SharedAddress::offset(Address));
    for (int I = 0; I < P.deviceCount(); ++I)
      if (auto Place = P.device(I).M.variableAt(Address))
        return Place;
    return std::nullopt;
  }

  std::string describe(uint64_t Address, abi::Space Space,
                       const std::string &Kernel) {
    const bool IsShared = Space == abi::Space::Shared;
    const std::optional<PlaceInVariable> Place =
        variableAt(Address, IsShared, Kernel);
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

  void printFound() {
    ReportFile Found = recorded();
    if (Options.detector == "oracle") // Else the session's report has them.
      kernelFaults().addTo(Found);
    const Report R = buildReport(Found);
    HasRaces |= R.hasRaces();
    HasChecked |= R.verdict() != Verdict::NothingChecked;
    if (R.verdict() == Verdict::Clean && !R.hasWarnings() &&
        Options.verbosity == 0)
      return;
    printFindings(
        liveFindings().rest(R, textOptions(Options), Options.print_again));
  }

  Process &P;
  const Flags &Options;
  const RunInfo Run;
  SiteTable Sites;
  std::unordered_map<std::string, VariableInfo> Shapes; ///< By name.
  FilteredOracle O;
  std::vector<std::unique_ptr<DeviceView>> Views; ///< If there are several.
  size_t LookedAt = 0; ///< Races that sawRace() knows of.
  bool HasReported = false;
  bool HasRaces = false;
  bool HasChecked = false;
};

} // namespace

std::unique_ptr<OracleDetector> makeOracle(Process &P, const Flags &Options,
                                           const std::string &Replay) {
  return std::make_unique<Detector>(P, Options, Replay);
}

} // namespace crsan::api
