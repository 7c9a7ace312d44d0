// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host code beside the simulated GPUs.
//
// Kernels run while the program waits for them, so that its own accesses could
// never come between those of a kernel. Before an access of instrumented host
// code the machines therefore run for a time that the seed gives.
#ifndef CRSAN_SIM_HOSTCODE_H
#define CRSAN_SIM_HOSTCODE_H

#include "Objects.h"
#include "host/HostChecks.h"
#include "machine/Random.h"

namespace crsan::api {

class Process;

/// This thread runs a function that a stream was given, for as long as one of
/// these exists.
class InHostFunction {
public:
  InHostFunction();
  ~InHostFunction();
  InHostFunction(const InHostFunction &) = delete;
  InHostFunction &operator=(const InHostFunction &) = delete;
};

/// A check waits by letting the machines run, for instructions of warps.
class SimulatedPace final : public HostPace {
public:
  SimulatedPace(Process &P, uint64_t Seed);
  std::optional<uint64_t> begin(uint64_t Checked, bool IsChosen) override;
  void wait(uint64_t Steps) override;
  void end(const HostAccess &A) override;
  bool holdsLock() const override { return true; }

private:
  Process &P;
  Random Dice; ///< Guarded by the process's lock.
};

/// A stream of a device, for PendingWork.
PendingWork::Stream pendingId(Device &D, Stream S);

} // namespace crsan::api

#endif // CRSAN_SIM_HOSTCODE_H
