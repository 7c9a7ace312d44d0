//===- Detector.cpp - detector=oracle -------------------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detector.h"

#include "Flags.h"
#include "Log.h"
#include "Process.h"
#include "Report/SiteTable.h"
#include "oracle/Oracle.h"
#include "oracle/OracleReport.h"

#include <algorithm>
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
  Oracles(Process &P, const Flags &Options) : P(P), Options(Options) {
    OracleOptions Choice;
    // It is compared with the program's instrumentation, line by line.
    Choice.KeepsEveryLine = Options.every_line && Options.detector == "both";
    Choice.FencesSynchronise = Options.fences_synchronise;
    Choice.VolatileIsWeak = Options.volatile_ == "weak";
    for (int I = 0; I < P.deviceCount(); ++I) {
      Choice.Describe = [this, I](uint64_t Address, abi::Space Space,
                                  const std::string &Kernel) {
        return describe(I, Address, Space, Kernel);
      };
      Each.push_back(std::make_unique<FilteredOracle>(Choice));
      P.device(I).M.setObserver(Each.back().get());
    }
  }

  bool sawRace() override {
    return std::any_of(Each.begin(), Each.end(),
                       [](const auto &O) { return !O->findings().empty(); });
  }

  void ignore(int Device, const void *Begin, size_t Size) override {
    Each[size_t(Device)]->ignore(Begin, Size);
  }

  void learnVariables(std::span<const uint8_t> Table) override {
    auto Info = SiteTable().add(Table);
    if (auto *Module = std::get_if<ModuleInfo>(&Info))
      for (const VariableInfo &V : Module->Variables)
        // Of two that share a name, nothing is known.
        if (auto [It, IsNew] = Shapes.try_emplace(V.LinkageName, V);
            !IsNew && It->second != V)
          It->second.Element = 0;
  }

  bool report(const std::string &Replay) override {
    if (!HasReported) {
      HasReported = true;
      for (size_t I = 0; I < Each.size(); ++I)
        reportDevice(int(I), Replay);
    }
    return sawRace();
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

  void reportDevice(int Ordinal, const std::string &Replay) {
    const Machine &M = P.device(Ordinal).M;
    OracleReport R =
        buildOracleReport(*Each[size_t(Ordinal)], [&M](int32_t Instruction) {
          std::vector<SourceFrame> Frames;
          for (const SourceLine &L : M.where(Instruction))
            Frames.push_back({L.Function, L.File, L.Line, L.Column});
          return Frames;
        });
    // A device that did nothing has nothing to say.
    bool IsIdle = R.Counts.Grids == 0 && R.Findings.empty();
    bool IsQuiet = R.Findings.empty() && R.Counts.Accesses != 0 &&
                   R.Notes.empty() && Options.verbosity == 0;
    HasChecked |= R.Counts.Accesses != 0 || !R.Findings.empty();
    if (IsQuiet || (IsIdle && Ordinal > 0))
      return;
    TextOptions Text;
    Text.StripPathPrefix = Options.strip_path_prefix;
    Text.Replay = Replay;
    theLog().text(renderText(R, Text));
  }

  Process &P;
  const Flags &Options;
  std::unordered_map<std::string, VariableInfo> Shapes; ///< By name.
  std::vector<std::unique_ptr<FilteredOracle>> Each;
  bool HasReported = false;
  bool HasChecked = false;
};

} // namespace

std::unique_ptr<OracleDetector> makeOracle(Process &P, const Flags &Options) {
  return std::make_unique<Oracles>(P, Options);
}

} // namespace crsan::api
