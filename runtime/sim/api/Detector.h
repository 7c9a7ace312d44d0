// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// detector=oracle.
#ifndef CRSAN_SIM_DETECTOR_H
#define CRSAN_SIM_DETECTOR_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace crsan {
struct Flags;
struct HostAccess;
struct ReportFile;
} // namespace crsan

namespace crsan::api {

class Process;

/// The exact happens-before (runtime/sim/oracle) over all devices.
class OracleDetector {
public:
  virtual ~OracleDetector() = default;
  /// Prints all findings and a summary, once. Returns whether there are any.
  virtual bool print() = 0;
  /// What is found so far, on all devices, and not suppressed.
  virtual ReportFile recorded() = 0;
  /// Whether that was about anything at all.
  virtual bool hasChecked() const = 0;
  /// Lets print() print once more.
  virtual void reopen() = 0;
  virtual bool sawRace() = 0;
  /// Races so far, suppressed ones too.
  virtual size_t countRaces() = 0;
  /// A site table of the program's, which says what its variables consist of
  /// and where its code was inlined.
  virtual void learn(std::span<const uint8_t> Table) = 0;
  /// Host code is about to make an access. IsOfFunction: in a function that a
  /// stream was given.
  virtual void hostAccess(const HostAccess &A, bool IsOfFunction) = 0;
  /// Whether something that the device did is not ordered before what the host
  /// does now.
  virtual bool mayRaceWithHost() const = 0;
  /// Leaves out memory that the instrumentation keeps for itself.
  virtual void ignore(int Device, const void *Begin, size_t Size) = 0;
};

/// Observes all machines of the process. Replay: the command that repeats the
/// run.
std::unique_ptr<OracleDetector> makeOracle(Process &P, const Flags &Options,
                                           const std::string &Replay);

} // namespace crsan::api

#endif // CRSAN_SIM_DETECTOR_H
