// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One of several devices that an observer watches.
//
// Each machine numbers its grids, threads, streams, barriers and instructions
// by itself. A view stands between a machine and the observer of all of them,
// and tells the numbers apart by the device's ordinal. It hands on whatever
// Observer has.
#ifndef CRSAN_SIM_ORACLE_DEVICEVIEW_H
#define CRSAN_SIM_ORACLE_DEVICEVIEW_H

#include "Releases.h"

#include <set>

namespace crsan::sim {

class DeviceView final : public Observer {
public:
  DeviceView(Observer &All, unsigned Ordinal) : All(All), Ordinal(Ordinal) {}

  /// What of an instruction's number is the device's, and what the machine's.
  static unsigned deviceOf(int32_t Instruction) {
    return unsigned(Instruction) >> InstructionBits;
  }
  static int32_t instructionOf(int32_t Instruction) {
    return Instruction & ((1 << InstructionBits) - 1);
  }
  /// The device of the block whose shared memory an address is in.
  static unsigned deviceOfShared(uint64_t Address) {
    return SharedAddress::block(Address) >> BlockBits;
  }

  void gridStart(const GridInfo &) override;
  void gridEnd(uint64_t Grid, Stream) override;
  void streamOp(Stream, std::string_view Op, std::span<const HostRange> Reads,
                std::span<const HostRange> Writes,
                uint32_t MadeAt = 0) override;
  void eventRecord(Event, Stream) override;
  void eventWait(Event, Stream) override;
  void eventWaitElsewhere(int Device, Event, Stream) override;
  void streamOrder(Stream Earlier, Stream Later) override;
  void hostEnqueue(Stream) override;
  void hostSyncStream(Stream) override;
  void hostSyncEvent(Event) override;
  void hostSyncAll() override;
  void hostFunctionEnd(Stream) override;
  void allocated(HostRange) override;
  void hostVisible(HostRange) override;
  void freed(HostRange) override;
  void blockStart(uint64_t Grid, uint32_t Block, uint64_t BlockUid,
                  uint64_t FirstThreadUid, uint32_t Threads) override;
  void blockEnd(uint64_t Grid, uint32_t Block, uint64_t BlockUid) override;
  void threadExit(const ThreadRef &) override;
  void gridDependencyWait(const ThreadRef &) override;
  void access(const ThreadRef &, const Access &) override;
  void fence(const ThreadRef &, MemoryOrder, Scope) override;
  void proxyFence(const ThreadRef &) override;
  void barrierArrive(const ThreadRef &, uint64_t Id, BarrierKind, MemoryOrder,
                     Scope) override;
  void barrierLeave(const ThreadRef &, uint64_t Id, BarrierKind, MemoryOrder,
                    Scope) override;
  void syncThreads(const ThreadRef &, uint64_t Id,
                   int32_t Instruction) override;
  void annotation(const ThreadRef &, ptx::Annotation,
                  uint64_t Address) override;
  void asyncIssue(const ThreadRef &, uint64_t Async, Completion) override;
  void asyncComplete(const ThreadRef &, uint64_t Async, Completion,
                     uint64_t Barrier) override;
  void asyncWaited(const ThreadRef &, uint64_t Async, bool ReadsOnly) override;

private:
  static constexpr unsigned InstructionBits = 26, BlockBits = 28;

  uint64_t grid(uint64_t Grid) const {
    return uint64_t(Ordinal) << GridBits | Grid;
  }
  uint64_t block(uint64_t Uid) const {
    return uint64_t(Ordinal) << BlockBits | Uid;
  }
  /// Of a stream, an event, a thread, a barrier or a copy.
  static uint64_t numbered(unsigned Device, uint64_t Id) {
    return uint64_t(Device) << 48 | Id;
  }
  uint64_t numbered(uint64_t Id) const { return numbered(Ordinal, Id); }
  uint64_t stream(Stream S) {
    Streams.insert(S);
    return numbered(S);
  }
  int32_t instruction(int32_t Id) const;
  ThreadRef thread(ThreadRef T) const {
    T.Grid = grid(T.Grid);
    T.Uid = numbered(T.Uid);
    return T;
  }

  Observer &All;
  const unsigned Ordinal;
  std::set<Stream> Streams; ///< That the machine has told of.
};

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_DEVICEVIEW_H
