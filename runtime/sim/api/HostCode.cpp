// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host code beside the simulated GPUs.

#include "HostCode.h"

#include "Detector.h"
#include "Process.h"
#include "SimulatedRun.h"

namespace crsan::api {

static thread_local unsigned HostFunctions = 0;

InHostFunction::InHostFunction() { ++HostFunctions; }
InHostFunction::~InHostFunction() { --HostFunctions; }

PendingWork::Stream pendingId(Device &D, Stream S) {
  // Apart from the handles that CUDA gives a meaning.
  constexpr unsigned Shift = 8;
  return {D.context(), StreamId::of(reinterpret_cast<CUstream>(S << Shift),
                                    /*IsPerThread=*/false)};
}

SimulatedPace::SimulatedPace(Process &P, uint64_t Seed)
    : P(P), Dice(Seed ^ 0x686f'7374) {}

std::optional<uint64_t> SimulatedPace::begin(uint64_t, bool) {
  if (HostFunctions)
    return 0; // The machine goes on when the function has returned.
  if (P.isHeldHere())
    return std::nullopt; // A signal has come in the middle of a call.
  P.lockForHostCode();
  // Before every second access, for an instruction or for thousands.
  constexpr unsigned Doublings = 13;
  if (Dice.oneIn(2))
    wait(uint64_t(1) << Dice.below(Doublings));
  constexpr uint64_t Least = 512;
  return Least << Dice.below(Doublings - 3);
}

void SimulatedPace::wait(uint64_t Steps) {
  if (!HostFunctions)
    P.runAll(Steps);
}

void SimulatedPace::end(const HostAccess &A) {
  if (OracleDetector *Oracle = P.run().oracle())
    Oracle->hostAccess(A, /*IsOfFunction=*/HostFunctions != 0);
  if (HostFunctions)
    return;
  P.run().noteProgress();
  P.unlock();
}

} // namespace crsan::api

//===----------------------------------------------------------------------===//
// For the host part (runtime/host/HostCode.c)
//===----------------------------------------------------------------------===//

CRSAN_API void crsan_host_code_loaded(crsan::abi::HostGate *Gate,
                                      const crsan::abi::HostUnit *Begin,
                                      const crsan::abi::HostUnit *End) {
  crsan::hostChecks().loaded(*Gate, {Begin, End});
}
CRSAN_API void crsan_host_code_unloading(crsan::abi::HostGate *Gate) {
  crsan::hostChecks().unloading(*Gate);
}
