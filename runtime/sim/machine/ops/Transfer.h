// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data of an asynchronous copy.
//
// A copy is issued, and moves its data at a time that the schedule chooses;
// waiting for it is sleeping until that time.
#ifndef CRSAN_SIM_OPS_TRANSFER_H
#define CRSAN_SIM_OPS_TRANSFER_H

#include "Device.h"
#include "ops/AtomicKinds.h"

#include <functional>

namespace crsan::sim {

/// One copy of one lane, with all that it needs when the lane is elsewhere.
struct Transfer {
  ThreadRef Thread;
  int32_t Instruction;
  std::shared_ptr<AsyncCopy> What;
  Completion Ends;
  Referent From, To;
  uint32_t Read = 0, Written = 0; ///< Bytes; the rest is zeros.
  Block *BarrierOf = nullptr;
  uint32_t BarrierAt = 0;
  /// Of cp.reduce: what is there is combined with what comes. Else no type.
  AtomicKind Reduces = AtomicKind::Add;
  ScalarType Type = ScalarType::None;
  Scope Within = Scope::Device; ///< Of what reduces.
};

/// A time at which a copy that is issued now may end.
uint64_t chooseTime(Device &D);

/// A copy that is issued now, and ends then.
std::shared_ptr<AsyncCopy> newCopy(Device &D, uint64_t Due);

/// The cluster stays until its copies are done. Those that read and write what
/// multiprocessors share are done between rounds.
void runLater(Device &D, Cluster &C, uint64_t Time, std::function<void()> What,
              bool IsShared = false);

/// Issues copies that end at one time.
void issue(Execution &X, std::vector<Transfer> Transfers);

} // namespace crsan::sim

#endif // CRSAN_SIM_OPS_TRANSFER_H
