// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What happened in a simulated run.
//
// The machine tells one observer what it does, in the order in which it
// happens: the schedule is sequentially consistent, so an order of events is
// all there is to say. Every method has an empty body; an observer overrides
// what it needs.
//
// Addresses. Global, constant, managed and mapped memory: the host address.
// Shared memory: unique to the block, see SharedAddress. Local memory and
// parameters are private to a thread and are not reported.
#ifndef CRSAN_SIM_OBSERVER_H
#define CRSAN_SIM_OBSERVER_H

#include "crsan/abi/MemoryModel.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace crsan::ptx {
enum class Annotation : uint8_t; // PTX/Classify.h
}

namespace crsan::sim {

using abi::AtomicUpdate;
using abi::Distance;
using abi::IsAtomic;
using abi::MemoryOrder;
using abi::ReadsMemory;
using abi::Scope;
using abi::Space;
using abi::WritesMemory;

struct Dim3 {
  uint32_t X = 1, Y = 1, Z = 1;
  uint64_t count() const { return uint64_t(X) * Y * Z; }
  friend bool operator==(const Dim3 &, const Dim3 &) = default;
};

using Stream = uint64_t; ///< 0: the legacy default stream.
using Event = uint64_t;

/// One thread of a grid.
struct ThreadRef {
  uint64_t Grid = 0;   ///< From 1, in order of launches; never reused.
  uint32_t Block = 0;  ///< Linear: x + y * gridDim.x + ...
  uint32_t Thread = 0; ///< Linear in its block; 32 consecutive ones are a warp.
  uint32_t Cluster = 0; ///< Linear cluster in the grid.
  uint64_t Uid =
      0; ///< Dense from 0, in the order in which blocks become
         ///< resident; never reused. Threads of a block are consecutive.
};

/// Shared memory as reported: a tag, the block (dense from 0, never reused;
/// 32 bits) and the offset in the block's shared memory (24 bits).
struct SharedAddress {
  static constexpr uint64_t Tag = 0x5A00'0000'0000'0000;
  static uint64_t make(uint64_t BlockUid, uint32_t Offset) {
    return Tag | (BlockUid & 0xFFFF'FFFF) << 24 | (Offset & 0xFF'FFFF);
  }
  static bool is(uint64_t Address) { return Address >> 56 == Tag >> 56; }
  static uint32_t block(uint64_t Address) { return uint32_t(Address >> 24); }
  static uint32_t offset(uint64_t Address) { return Address & 0xFF'FFFF; }
};

/// What an access does.
struct AccessTraits {
  /// abi::AccessFlags: ReadsMemory, WritesMemory, IsAtomic. The order says
  /// whether the access is strong.
  uint8_t Flags = 0;

  bool reads() const { return Flags & ReadsMemory; }
  bool writes() const { return Flags & WritesMemory; }
  bool isAtomic() const { return Flags & IsAtomic; }
};

/// One access of one thread. An atomic with a result is one event that reads
/// and writes; a vector access is one event; an atomic that does not write
/// (a failed compare-and-swap) only reads, one without a result (red) only
/// writes. Atomics are never Weak.
struct Access : AccessTraits {
  abi::Space Space = Space::Global; ///< Global, Constant or Shared.
  MemoryOrder Order = MemoryOrder::Weak;
  Scope Within = Scope::System; ///< Of strong accesses.
  bool IsVolatile = false;      ///< Then it is relaxed, of system scope.
  /// Made by an asynchronous operation of this thread (cp.async, bulk copies):
  /// happens at asyncComplete of `Async`, not in program order.
  bool IsAsync = false;
  uint64_t Address = 0;
  uint32_t Size = 0;    ///< Bytes, of all elements.
  uint8_t Elements = 1; ///< Of a vector access: so many scalar operations.
  /// How far an atomic reaches, the code does not tell: Size bytes, or more.
  bool MayBeWider = false;
  int32_t Instruction = -1; ///< Machine::where() gives its lines.
  uint64_t Async = 0;       ///< Id of the asynchronous operation, else 0.
};

/// Access::Instruction of a site of host code (abi::HostSite::Number, from 1).
constexpr int32_t hostInstruction(uint32_t Site) { return -1 - int32_t(Site); }
constexpr bool isHostInstruction(int32_t Instruction) {
  return Instruction < -1;
}
constexpr uint32_t hostSiteOf(int32_t Instruction) {
  return uint32_t(-1 - Instruction);
}

enum class BarrierKind : uint8_t {
  CTA,     ///< bar, barrier: named barriers 0 to 15 of a block.
  Warp,    ///< bar.warp.sync
  Cluster, ///< barrier.cluster
  MBarrier ///< A phase of an mbarrier object: arrive releases; a successful
           ///< test_wait/try_wait leaves.
};

/// How an asynchronous copy says that it is done.
enum class Completion : uint8_t {
  Group,     ///< cp.async.wait_group / wait_all of the issuing thread.
  BulkGroup, ///< cp.async.bulk.wait_group of the issuing thread.
  MBarrier   ///< Complete-tx or arrive on an mbarrier object.
};

struct GridInfo {
  uint64_t Grid = 0;
  sim::Stream Stream = 0;
  std::string_view Kernel; ///< Mangled.
  Dim3 GridDim, BlockDim, ClusterDim;
  bool IsCooperative = false;
  /// It need not have waited for the kernel before it in its stream
  /// (programmatic dependent launch), even if it did.
  bool MayOverlap = false;
};

struct HostRange {
  const void *Begin = nullptr;
  size_t Size = 0;
};

class Observer {
public:
  virtual ~Observer() = default;

  // Streams. An operation starts when the schedule gets to it, which is after
  // all before it in its stream have ended (and, where the default stream or
  // events order it, those).
  virtual void gridStart(const GridInfo &) {}
  virtual void gridEnd(uint64_t Grid, Stream) {}
  /// A copy, fill or host function of a stream, when it runs. `Op` is the
  /// caller's name of it ("cudaMemcpyAsync"), and `MadeAt` its number for where
  /// the program asked for it; 0: not known.
  virtual void streamOp(Stream, std::string_view Op,
                        std::span<const HostRange> Reads,
                        std::span<const HostRange> Writes,
                        uint32_t MadeAt = 0) {}
  virtual void eventRecord(Event, Stream) {} ///< When the record is reached.
  virtual void eventWait(Event, Stream) {
  } ///< When the wait lets the stream go on.
  /// The same, for an event of another device.
  virtual void eventWaitElsewhere(int Device, Event, Stream) {}
  /// Stream `Later` goes on after what `Earlier` had done (default-stream
  /// rules).
  virtual void streamOrder(Stream Earlier, Stream Later) {}
  /// The host has enqueued something (so far done by the host happens before
  /// it), or has seen something done.
  /// One call for each operation that will start with gridStart, streamOp,
  /// eventRecord, eventWait or eventWaitElsewhere, in that order; none for
  /// others.
  virtual void hostEnqueue(Stream) {}
  virtual void hostSyncStream(Stream) {}
  virtual void hostSyncEvent(Event) {}
  virtual void hostSyncAll() {}
  /// A function of the program's that streamOp() was told of has returned.
  virtual void hostFunctionEnd(Stream) {}
  virtual void allocated(HostRange) {}
  /// Host threads may access it while kernels run (told after allocated()).
  virtual void hostVisible(HostRange) {}
  virtual void freed(HostRange) {}

  // Blocks and threads. All threads of a block start at once.
  virtual void blockStart(uint64_t Grid, uint32_t Block, uint64_t BlockUid,
                          uint64_t FirstThreadUid, uint32_t Threads) {}
  virtual void blockEnd(uint64_t Grid, uint32_t Block, uint64_t BlockUid) {}
  virtual void threadExit(const ThreadRef &) {}
  /// griddepcontrol.wait: the grids that the thread's own depends on have
  /// ended.
  virtual void gridDependencyWait(const ThreadRef &) {}

  // Memory.
  virtual void access(const ThreadRef &, const Access &) {}
  virtual void fence(const ThreadRef &, MemoryOrder, Scope) {}
  /// fence.proxy.async, of whatever state space.
  virtual void proxyFence(const ThreadRef &) {}

  /// `Id` is unique to the barrier's instance and phase. A thread arrives
  /// (releases), and leaves (acquires) once the phase is complete; bar.arrive
  /// and mbarrier.arrive never leave by themselves.
  /// The order and scope are those of mbarrier and cluster barriers, which may
  /// be .relaxed; CTA and warp barriers order everything.
  virtual void barrierArrive(const ThreadRef &, uint64_t Id, BarrierKind,
                             MemoryOrder = MemoryOrder::Release,
                             Scope = Scope::Block) {}
  virtual void barrierLeave(const ThreadRef &, uint64_t Id, BarrierKind,
                            MemoryOrder = MemoryOrder::Acquire,
                            Scope = Scope::Block) {}

  /// The thread comes to what may be a __syncthreads() of the source, or one
  /// with a result: inline assembly may have the same instruction. `Id`: as
  /// barrierArrive() is told then. Of the lanes of a warp that come together,
  /// one is told. The program may have told the iteration just before
  /// (ptx::Annotation).
  virtual void syncThreads(const ThreadRef &, uint64_t Id,
                           int32_t Instruction) {}

  virtual void annotation(const ThreadRef &, ptx::Annotation,
                          uint64_t Address) {}

  /// Asynchronous copies. Accesses of the copy follow issue, with IsAsync and
  /// `Async` set, at the time at which the data moves; then asyncComplete.
  /// By MBarrier, the completion arrives at phase `Barrier` (as in
  /// barrierArrive).
  virtual void asyncIssue(const ThreadRef &, uint64_t Async, Completion) {}
  virtual void asyncComplete(const ThreadRef &, uint64_t Async, Completion,
                             uint64_t Barrier) {}
  /// The thread has waited for its own group that `Async` was in; after
  /// wait_group.read only for what the copy reads.
  virtual void asyncWaited(const ThreadRef &, uint64_t Async,
                           bool ReadsOnly = false) {}
};

} // namespace crsan::sim

#endif // CRSAN_SIM_OBSERVER_H
