// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mbarrier object.
//
// 64 bits in shared memory, which programs do not look into:
//
//     bit 63      phase
//     bits 40-61  bytes still to come (tx-count), biased
//     bits 20-39  arrivals that a phase expects
//     bits 0-19   arrivals still to come
#ifndef CRSAN_SIM_OPS_MBARRIER_H
#define CRSAN_SIM_OPS_MBARRIER_H

#include "Device.h"

namespace crsan::sim {

class MBarrier {
public:
  static constexpr uint32_t MaxCount = (1u << 20) - 1;

  MBarrier(Device &D, Block &Owner, uint32_t Offset)
      : D(D), Owner(Owner), Offset(Offset) {
    std::memcpy(&Word, Owner.sharedAt(Offset), 8);
  }

  /// The object as it is now.
  MBarrier now() const { return {D, Owner, Offset}; }

  static uint64_t initial(uint32_t Count) {
    return Bias | uint64_t(Count) << 20 | Count;
  }
  void init(uint32_t Count) {
    Word = initial(Count);
    if (Offset < Owner.Written.size())
      std::fill_n(Owner.Written.begin() + Offset, 8, 1);
    uids() = {D.NextBarrierUid++, 0};
    put();
  }

  uint64_t word() const { return Word; }
  bool phase() const { return Word >> 63; }
  uint32_t pending() const { return Word & MaxCount; }
  static bool phaseOf(uint64_t State) { return State >> 63; }
  uint64_t currentUid() { return uids().Current; }
  uint64_t lastUid() { return uids().Last; }

  /// Bytes that are expected (or, negative, have come).
  void expect(int64_t Bytes) {
    Word += uint64_t(Bytes) << 40;
    settle();
  }
  /// False: more arrivals than the phase expects.
  bool arrive(uint32_t Count) {
    if (Count > pending())
      return false;
    Word -= Count;
    settle();
    return true;
  }
  /// Fewer arrivals are expected in the phases to come.
  bool drop(uint32_t Count) {
    if (Count > (Word >> 20 & MaxCount))
      return false;
    Word -= uint64_t(Count) << 20;
    return arrive(Count);
  }
  /// cp.async.mbarrier.arrive without .noinc.
  void addPending(uint32_t Count) {
    Word += Count;
    put();
  }

private:
  static constexpr uint64_t Bias = uint64_t(1) << 61;
  static constexpr uint64_t TxMask = ((uint64_t(1) << 22) - 1) << 40;

  MBarrierUids &uids() { return Owner.MBarriers[Offset]; }
  void settle() {
    if (pending() == 0 && (Word & TxMask) == Bias) {
      uint64_t Count = Word >> 20 & MaxCount;
      Word = ((Word ^ uint64_t(1) << 63) & ~uint64_t(MaxCount)) | Count;
      uids() = {D.NextBarrierUid++, uids().Current};
    }
    put();
  }
  void put() { std::memcpy(Owner.sharedAt(Offset), &Word, 8); }

  Device &D;
  Block &Owner;
  uint32_t Offset;
  uint64_t Word;
};

/// The object at a lane's address; nothing: faulted.
std::optional<MBarrier> mbarrierAt(Execution &X, const Instruction &I,
                                   unsigned Lane, const Ref &Base);

} // namespace crsan::sim

#endif // CRSAN_SIM_OPS_MBARRIER_H
