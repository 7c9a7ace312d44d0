// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes, and which of them run together.
//
// A warp is a set of fragments: lanes with one program counter and one call
// stack. A divergent branch splits a fragment; the halves meet again at the
// branch's immediate post-dominator. What they wait by is a Meeting, and the
// wait is soft: a fragment may be let go on alone, by chance, when its partners
// cannot get there, or when they take long; so nothing relies on convergence
// that the program does not ask for, and threads that wait for each other make
// progress.
#ifndef CRSAN_SIM_WARP_H
#define CRSAN_SIM_WARP_H

#include "Program.h"

#include <bit>

namespace crsan::sim {

struct Block;
struct Warp;

/// One activation of a function, shared by all lanes of the warp that entered
/// it together (also after they have parted).
struct Frame {
  Function *Fn = nullptr;
  Frame *Caller = nullptr; ///< Counts as a use of the caller.
  uint32_t ReturnTo = 0;   ///< In the caller's code.
  const CallSite *Site = nullptr;
  uint32_t Uses = 0;
  uint32_t LocalBase = 0; ///< Bytes, in each lane's local memory.
  uint32_t LocalTop = 0;  ///< Of this frame, with what alloca has taken.
  std::vector<uint8_t> Rows;
};

/// Where lanes that parted meet again.
struct Meeting {
  Meeting *Parent = nullptr; ///< Counts as a use of the parent.
  uint32_t Uses = 0; ///< Fragments whose innermost meeting it is, and children.
  uint32_t Pc = 0;
  const Frame *In = nullptr;
  uint32_t Expected = 0; ///< Lanes.
};

struct Fragment {
  enum class State : uint8_t {
    Ready,
    Sleeping,
    Meeting,
    Collective,
    WarpBarrier,
    Barrier,
    Cluster,
    Grid, ///< Until the grid that its own overlaps with has ended.
    Turn, ///< Until the end of the round.
    Gone
  };

  uint64_t Id = 0; ///< In order of creation, in the machine.
  Warp *In = nullptr;
  uint32_t Lanes = 0;
  uint32_t Pc = 0;
  Frame *Top = nullptr;
  Meeting *Meets = nullptr; ///< Innermost.
  State Is = State::Ready;
  uint32_t ReadyIndex = 0; ///< In the scheduler's list.
  uint32_t Barrier = 0;    ///< Number, in State::Barrier.
  uint64_t ReleaseAt =
      0; ///< State::Meeting: Warp::Steps at which it goes on alone.
  uint64_t Priority = 0; ///< Greatest first (PCT), least first (round robin).
  uint32_t RanSince = 0; ///< PCT: warp instructions since it was lowered.
  uint64_t Wake = 0;     ///< Number of the sleep that it is in.
  uint64_t Round = 0;    ///< In which it has made so many strong accesses:
  uint32_t Strong = 0;
};

/// A cp.async, a bulk copy or an asynchronous store under way.
struct AsyncCopy {
  uint64_t Id = 0;
  uint64_t Due = 0; ///< Virtual time.
  bool IsDone = false;
  /// Of a copy that ends with a bulk group: it reads before it writes.
  uint64_t ReadDue = 0;
  bool HasRead = false; ///< Then Data is what it writes.
  std::vector<uint8_t> Data;
};

/// What one lane has issued and not waited for.
struct LaneCopies {
  using Group = std::vector<std::shared_ptr<AsyncCopy>>;
  Group Open, OpenBulk; ///< Not committed.
  std::deque<Group> Groups, BulkGroups;
  size_t ReadGroups =
      0; ///< Of BulkGroups: the lane has waited for their reads.
};

struct Warp {
  Block *In = nullptr;
  uint32_t Index = 0;   ///< In the block.
  uint32_t Live = 0;    ///< Lanes that have not exited.
  uint32_t Whole = 0;   ///< Lanes that were there at the start.
  uint32_t Running = 0; ///< Fragments that are ready or asleep.
  /// Instructions, where strong accesses count for many: who spins makes them,
  /// and lanes that wait to be met are let go the sooner.
  uint64_t Steps = 0;
  std::vector<Fragment *> Fragments; ///< In order of creation.
  std::vector<uint8_t> Special;      ///< SpecialRow
  std::vector<uint8_t> Local;        ///< 32 * LocalStride
  uint32_t LocalStride = 0;
  /// Cluster barrier: lanes that have arrived in the current phase, and the
  /// phase at which each lane arrived last.
  uint32_t ClusterArrived = 0;
  std::array<uint64_t, WarpSize> ClusterPhase{};
  std::array<LaneCopies, WarpSize> Copies;
};

/// Calls F with each lane of a mask; a full mask is a plain loop.
template <class Callable> inline void forLanes(uint32_t Mask, Callable F) {
  if (Mask == AllLanes) {
#pragma clang loop vectorize(assume_safety)
    for (unsigned L = 0; L < WarpSize; ++L)
      F(L);
    return;
  }
  for (; Mask; Mask &= Mask - 1)
    F(unsigned(std::countr_zero(Mask)));
}

} // namespace crsan::sim

#endif // CRSAN_SIM_WARP_H
