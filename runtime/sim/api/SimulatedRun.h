// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run on the simulated GPU found.
#ifndef CRSAN_SIM_SIMULATEDRUN_H
#define CRSAN_SIM_SIMULATEDRUN_H

#include "Detector.h"
#include "Process.h"
#include "Report/ReportFile.h"
#include "session/Ending.h"

#include <atomic>
#include <memory>
#include <string>

namespace crsan::api {

/// The findings of one of the two detectors, and the faults of the machines.
class SimulatedRun final : public Run {
public:
  SimulatedRun(Process &P, const Flags &Options);

  const Flags &options() const override { return Options; }
  bool takeStock() override;
  bool print() override;
  std::optional<ReportFile> recorded() override;
  bool hasChecked() const override;
  void reopen() override;
  bool sawRace() override;
  bool hasBegun() const override { return P.user() != 0; }
  std::optional<size_t> countRecorded() override;
  std::vector<std::string> lastKernels() override;

  /// The collider's; null if another detector was chosen.
  Session *session() { return Collider.get(); }
  /// Null if another detector was chosen.
  OracleDetector *oracle() { return Oracle.get(); }
  /// Remembers the shape of the grid, to say in which block a fault was.
  void launched(const Launch &L);
  /// `Kernel` is mangled; null if it is not known.
  void launchFailed(const char *Kernel, const std::string &Error);
  /// The lock is held: looks whether there are findings by now, and with
  /// halt_on_error ends the program if so.
  void noteProgress();
  /// Prints it, and keeps what is a mistake of the program's for the report.
  void faultFound(const Device &D, const Fault &F);

private:
  struct Shape {
    Dim3 Grid, Cluster, Block;
    bool IsOne = true; ///< All launches of the kernel had it.
  };
  Dim3 blockOf(const Fault &F, bool &IsExact) const;
  Occurrence occurrenceOf(const Device &D, const Fault &F) const;
  RunInfo runInfo() const;

  Process &P;
  const Flags &Options;
  const std::string Replay;
  std::map<std::string, Shape> Shapes; ///< By kernel.
  std::unique_ptr<Session> Collider;
  std::unique_ptr<OracleDetector> Oracle;
  std::atomic<bool> OracleSaw{false};
  bool IsTakingStock = false; ///< The program is at its end.
  /// What the simulated GPU cannot do and the program wants, as notes.
  std::vector<std::string> Lacks;
};

/// "CRSAN_OPTIONS=... crsan run --device=sim program arguments": does it all
/// again.
std::string replayLine(const Flags &Options);

} // namespace crsan::api

#endif // CRSAN_SIM_SIMULATEDRUN_H
