// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which executions of a window are checked.
//
// The first executions of a window (Config::Budget) by warps that execute
// checks (PlainBody.h) are all checked. Later ones are limited in time: in each
// block, cycles without checks follow the cycles that a check has taken, in the
// proportion that the user has set. A window whose turn comes too early is
// asked more rarely from then on, and one whose turn comes late more often, so
// that windows of any frequency share the time, and few come in vain.
#ifndef CRSAN_DEVICE_COLLIDER_SAMPLING_H
#define CRSAN_DEVICE_COLLIDER_SAMPLING_H

#include "common/Memory.h"
#include "common/RecordBuffer.h"

namespace crsan::device {

/// While checks are paused (abi::Paused), a loop looks after so many iterations
/// whether they still are.
constexpr uint32_t PausedSkip = 63;

/// What the lanes of a converged warp agree on at the head of a slow path.
struct Warp {
  uint32_t Mask;   ///< The lanes that entered the slow path together.
  uint32_t Random; ///< Random number, the same in all lanes of Mask.
};

/// Finds the lanes that are here together. Called by the lanes of a slow path.
DEVICE Warp gather() {
  Warp W;
  W.Mask = activeMask();
  W.Random = broadcast(W.Mask, random(), __builtin_ctz(W.Mask));
  return W;
}

/// The counters of this multiprocessor.
DEVICE Counters::Shard &shardHere() {
  return counters().Shards[smid() % CounterShards];
}

/// The interval of a window as the fast path saw it, perhaps from a stale line
/// of the L1 cache.
DEVICE uint32_t intervalSeen(const struct Sampling &S) {
  const uint32_t Seen = loadNear(S.Interval);
  return Seen ? Seen : 1;
}

/// How many executions of a window pass between two checks if only their number
/// limits them: every execution is checked up to the budget, and then ever
/// fewer, so that the checks of n executions grow with the cube root of n.
DEVICE uint32_t intervalAfter(uint32_t Executed) {
  const uint32_t Budget = __crsan_config.Budget;
  if (Budget == 0 || Executed < Budget)
    return 1;
  const uint64_t Excess = Executed / Budget;
  const uint64_t Interval = Excess * Excess * 2;
  return Interval < __crsan_config.MaxInterval ? uint32_t(Interval)
                                               : __crsan_config.MaxInterval;
}

DEVICE uint32_t countExecution(struct Sampling &S) {
  return __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&S.Executed), 1);
}

/// Where the number of executions decides: counts this one, and sets
/// `Interval`, the interval from now on. Returns false if the warp should skip
/// the check: other warps have raised the interval, and this warp came here by
/// an older interval that its L1 cache had kept.
DEVICE bool isTurnByNumber(const Warp &W, struct Sampling &S,
                           uint32_t &Interval) {
  const uint32_t Used = intervalSeen(S);
  Interval = intervalAfter(countExecution(S));
  if (Interval > 1)
    *reinterpret_cast<volatile uint32_t *>(&S.Interval) = Interval;
  if (Interval <= 2 * Used + 2)
    return true;
  __nvvm_membar_gl(); // Drops the stale line.
  return below(mix(W.Random + 1), Interval) <= Used;
}

/// How many blocks of this grid are on a multiprocessor, at least, as a power
/// of two. A kernel with checks has so many threads there, and the shared
/// memory that each block takes is known.
DEVICE uint32_t blocksBeside() {
  constexpr uint32_t MostThreads = 512;
  const uint32_t Threads = __nvvm_read_ptx_sreg_ntid_x() *
                           __nvvm_read_ptx_sreg_ntid_y() *
                           __nvvm_read_ptx_sreg_ntid_z();
  uint32_t Shared;
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(Shared));
  const uint64_t Blocks = blocksOfGrid();
  uint32_t Log = 0;
  while (2u << Log <= BlockSlots && 2 * Threads << Log <= MostThreads &&
         2 * uint64_t(Shared) << Log <= __crsan_config.SharedBytes &&
         2 * uint64_t(__crsan_config.Multiprocessors) << Log <= Blocks)
    ++Log;
  return 1u << Log;
}

/// When this block may be checked again. A check holds up one block, whose
/// other warps may wait at a barrier; other blocks go on. Blocks on a
/// multiprocessor have as many slots as there are of them, and share one by
/// chance.
DEVICE uint64_t &dueHere() {
  const uint32_t Slot = mix(uint32_t(linearBlock())) & (blocksBeside() - 1);
  return shardHere().Due[Slot];
}

/// The low bits of Shard::Due differ between a grid and the one before it.
constexpr uint64_t GridMark = 63;
DEVICE uint64_t markedWithGrid(uint64_t Clock) {
  return (Clock & ~GridMark) | (gridHere() & GridMark);
}

/// For a check that takes `Cycles`: how many cycles after its begin another one
/// of its block may begin.
DEVICE uint64_t cyclesFor(uint32_t Cycles) {
  return uint64_t(Cycles) * __crsan_config.CyclesPerCycle >> 8;
}

/// The cycles that a check probably takes, until they have been measured.
DEVICE uint32_t cyclesExpected() {
  constexpr uint32_t WithoutDelay = 4000;
  // The mean delay, at two cycles a nanosecond.
  return __crsan_config.DelayNs + WithoutDelay;
}

/// Whether the budget of the window is not used up, of which `Executed`
/// executions have been checked; then this one is counted. Many warps may come
/// here at once.
DEVICE bool isWithinBudget(struct Sampling &S, uint32_t Executed) {
  const uint32_t Budget = __crsan_config.Budget;
  if (Executed >= Budget)
    return false;
  if (countExecution(S) < Budget)
    return true;
  asm volatile("red.relaxed.gpu.add.u32 [%0], -1;" ::"l"(&S.Executed)
               : "memory");
  return false;
}

/// What a warp does with the execution of a window.
enum class Turn : uint32_t {
  Skip,
  Pass,  ///< Looks for watchpoints of others, but does not wait (passBy).
  Check, ///< The execution is counted.
};

/// Where the time decides: whether the warp may check now one of the `Groups`
/// of its window. It passes by where another warp of its block, or of one that
/// shares the slot, has the time. Sets `Interval`, the interval from now on,
/// and `IsCharged`: the check takes time that is limited.
DEVICE Turn turnByTime(const Warp &W, struct Sampling &S, uint32_t Groups,
                       uint32_t &Interval, uint32_t &IsCharged) {
  const uint32_t Used = Interval = intervalSeen(S);
  uint64_t &Due = dueHere();
  // The three reads are under way together: none waits for another.
  const uint32_t Executed = loadRelaxed(S.Executed),
                 Stored = loadRelaxed(S.Interval);
  const uint64_t Seen = loadRelaxed(Due);
  if (isWithinBudget(S, Executed))
    return Turn::Check;
  // The check of a window's first group leaves no time for the second, which
  // comes at once: the groups take turns.
  if (Groups > 1 && below(mix(W.Random + 9), Groups) != 0)
    return Turn::Skip;
  Interval = Stored ? Stored : 1;
  if (Interval != Used)
    __nvvm_membar_gl(); // Drops the stale line.
  const uint64_t Now = cycleNow();
  const int64_t Late = int64_t(Now - Seen);
  const int64_t Long =
      2 * int64_t(cyclesExpected()) * __crsan_config.CyclesPerCycle >> 8;
  // No check is charged so much: the clock has been set back, or a warp has
  // been moved to a multiprocessor whose clock shows another time.
  constexpr int64_t Never = 1024;
  IsCharged =
      (Late >= 0 || Late < -Never * Long) &&
      exchangeIf(Due, Seen, markedWithGrid(Now + cyclesFor(cyclesExpected())));
  const uint32_t Most = __crsan_config.MaxInterval;
  if (IsCharged) {
    countExecution(S);
    if (Interval == 1 || Late < Long)
      return Turn::Check;
    // The first check of a slot in a grid is late, since nothing was executed
    // in between: that says little about the window.
    if ((Seen ^ gridHere()) & GridMark &&
        below(mix(W.Random + 11), __crsan_config.Multiprocessors))
      return Turn::Check;
    Interval /= 2;
  } else {
    // By an interval that is out of date, it came for nothing.
    if (Interval != Used || Interval >= Most)
      return Turn::Pass;
    Interval = Interval > Most / 2 ? Most : 2 * Interval;
  }
  storeRelaxed(S.Interval, Interval);
  return IsCharged ? Turn::Check : Turn::Pass;
}

/// What a warp at a window has been told.
struct Decision {
  Turn What;
  uint32_t Interval; ///< Of the window, from now on.
  uint32_t Began;    ///< %clock; 0: the time is not limited.
  DEVICE bool checks() const { return What == Turn::Check; }
};

/// What this warp does now with one of the `Groups` of its window.
DEVICE Decision decide(const Warp &W, struct Sampling *S, uint32_t Groups) {
  // Lanes of the warp may have parted since: each part counts for itself.
  const uint32_t Here = activeMask(), First = __builtin_ctz(Here);
  uint32_t What = 0, IsCharged = 0, Interval = 1;
  if (lane() == First)
    What = uint32_t(__crsan_config.CyclesPerCycle && __crsan_config.Budget
                        ? turnByTime(W, *S, Groups, Interval, IsCharged)
                    : isTurnByNumber(W, *S, Interval) ? Turn::Check
                                                      : Turn::Skip);
  return {Turn(broadcast(Here, What, First)), broadcast(Here, Interval, First),
          IsCharged ? uint32_t(cycleNow()) | 1 : 0};
}

/// The check is over: what it took differs from what was expected.
DEVICE void charge(const Decision &Mine) {
  if (Mine.Began == 0)
    return;
  // A warp may have been moved to a multiprocessor with another clock.
  const uint64_t Took = uint32_t(cycleNow()) - Mine.Began,
                 Most = 64 * uint64_t(cyclesExpected());
  const uint64_t More = cyclesFor(uint32_t(Took < Most ? Took : Most)) -
                        cyclesFor(cyclesExpected());
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(&dueHere()),
               "l"(More & ~GridMark)
               : "memory");
}

/// How many windows of a loop to let pass before the next check; Interval on
/// average.
DEVICE uint32_t nextSkip(const Warp &W, uint32_t Interval) {
  return Interval <= 1 ? 0 : below(mix(W.Random + 2), 2 * Interval - 1);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_SAMPLING_H
