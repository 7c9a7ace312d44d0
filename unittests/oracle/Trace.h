//===- Trace.h - Event sequences, written by hand ---------------*- C++ -*-===//
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run of one kernel at a time, or of several, told to an oracle event by
// event. Instructions are numbered by the tests.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_UNITTESTS_ORACLE_TRACE_H
#define CRSAN_UNITTESTS_ORACLE_TRACE_H

#include "oracle/Oracle.h"

#include <gtest/gtest.h>

#include <set>

namespace crsan::sim {

constexpr uint64_t Data = 0x10000, Flag = 0x20000, Lock = 0x30000;

class Trace {
public:
  explicit Trace(OracleOptions Options = {}) : O(Options) {}

  /// Starts a grid with all of its blocks.
  uint64_t start(Stream S, uint32_t Blocks, uint32_t Threads,
                 uint32_t Cluster = 1, bool MayOverlap = false) {
    GridInfo Info;
    Info.MayOverlap = MayOverlap;
    Info.Grid = ++LastGrid;
    Info.Stream = S;
    Info.Kernel = "kernel";
    Info.GridDim.X = Blocks;
    Info.BlockDim.X = Threads;
    Info.ClusterDim.X = Cluster;
    O.gridStart(Info);
    for (uint32_t B = 0; B < Blocks; ++B) {
      O.blockStart(Info.Grid, B, BlockUid + B, Uid, Threads);
      Uid += Threads;
    }
    FirstBlockUid[Info.Grid] = BlockUid;
    BlockUid += Blocks;
    Open[Info.Grid] = {S, Blocks, Threads, Cluster};
    return Info.Grid;
  }
  void end(uint64_t Grid) {
    const Shape &S = Open.at(Grid);
    for (uint32_t B = 0; B < S.Blocks; ++B) {
      for (uint32_t T = 0; T < S.Threads; ++T)
        O.threadExit(thread(Grid, B, T));
      O.blockEnd(Grid, B, FirstBlockUid[Grid] + B);
    }
    O.gridEnd(Grid, S.In);
  }
  ThreadRef thread(uint64_t Grid, uint32_t Block, uint32_t Thread) const {
    return {Grid, Block, Thread, Block / Open.at(Grid).Cluster, 0};
  }
  /// Of the last grid that was started.
  ThreadRef at(uint32_t Block, uint32_t Thread) const {
    return thread(LastGrid, Block, Thread);
  }
  uint64_t shared(uint32_t Block, uint32_t Offset) {
    return SharedAddress::make(FirstBlockUid[LastGrid] + Block, Offset);
  }

  void load(ThreadRef T, uint64_t Address, int32_t Instruction,
            MemoryOrder Order = MemoryOrder::Weak, Scope Within = Scope::System,
            uint32_t Size = 4) {
    access(T, Address, Instruction, ReadsMemory, Order, Within, Size);
  }
  void store(ThreadRef T, uint64_t Address, int32_t Instruction,
             MemoryOrder Order = MemoryOrder::Weak,
             Scope Within = Scope::System, uint32_t Size = 4) {
    access(T, Address, Instruction, WritesMemory, Order, Within, Size);
  }
  void atomic(ThreadRef T, uint64_t Address, int32_t Instruction,
              MemoryOrder Order = MemoryOrder::Relaxed,
              Scope Within = Scope::Device, uint32_t Size = 4) {
    access(T, Address, Instruction, AtomicUpdate, Order, Within, Size);
  }
  /// An atomic without a result.
  void reduce(ThreadRef T, uint64_t Address, int32_t Instruction,
              MemoryOrder Order = MemoryOrder::Relaxed,
              Scope Within = Scope::Device) {
    access(T, Address, Instruction, WritesMemory | IsAtomic, Order, Within, 4);
  }
  void fence(ThreadRef T, Scope Within = Scope::Device,
             MemoryOrder Order = MemoryOrder::AcquireRelease) {
    O.fence(T, Order, Within);
  }
  void arrive(ThreadRef T, uint64_t Id, BarrierKind Kind = BarrierKind::CTA) {
    O.barrierArrive(T, Id, Kind, MemoryOrder::Release, Scope::Block);
  }
  void leave(ThreadRef T, uint64_t Id, BarrierKind Kind = BarrierKind::CTA) {
    O.barrierLeave(T, Id, Kind, MemoryOrder::Acquire, Scope::Block);
  }
  void volatileLoad(ThreadRef T, uint64_t Address, int32_t Instruction) {
    access(T, Address, Instruction, ReadsMemory, MemoryOrder::Relaxed,
           Scope::System, 4, true);
  }
  void volatileStore(ThreadRef T, uint64_t Address, int32_t Instruction) {
    access(T, Address, Instruction, WritesMemory, MemoryOrder::Relaxed,
           Scope::System, 4, true);
  }
  /// All of these threads of a block of the last grid.
  void sync(uint32_t Block, const std::set<uint32_t> &Threads,
            BarrierKind Kind = BarrierKind::CTA) {
    const uint64_t Id = ++BarrierId;
    for (uint32_t T : Threads)
      arrive(at(Block, T), Id, Kind);
    for (uint32_t T : Threads)
      leave(at(Block, T), Id, Kind);
  }

  using Pairs = std::set<std::pair<int32_t, int32_t>>;
  /// Instructions of the races found, the lower first.
  Pairs races() const {
    Pairs Result;
    for (const RaceFinding &F : O.findings())
      Result.insert(std::minmax({F.Earlier.Instruction, F.Later.Instruction}));
    return Result;
  }

  Oracle O;
  uint64_t BarrierId = 1000;

private:
  struct Shape {
    Stream In = 0;
    uint32_t Blocks = 0, Threads = 0, Cluster = 1;
  };

  void access(ThreadRef T, uint64_t Address, int32_t Instruction, uint8_t Flags,
              MemoryOrder Order, Scope Within, uint32_t Size,
              bool IsVolatile = false) {
    Access A;
    A.Flags = Flags;
    A.IsVolatile = IsVolatile;
    A.Space = SharedAddress::is(Address) ? Space::Shared : Space::Global;
    A.Order = Order;
    A.Within = Within;
    A.Address = Address;
    A.Size = Size;
    A.Instruction = Instruction;
    O.access(T, A);
  }

  uint64_t LastGrid = 0, BlockUid = 0, Uid = 0;
  std::map<uint64_t, uint64_t> FirstBlockUid;
  std::map<uint64_t, Shape> Open;
};

inline const Trace::Pairs None;

} // namespace crsan::sim

#endif // CRSAN_UNITTESTS_ORACLE_TRACE_H
