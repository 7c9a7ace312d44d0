// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which executions of a window are checked.
//
// The first executions of a window (Config::Budget) that ask for a check are
// all checked: those by warps that execute checks (PlainBody.h), in a large
// grid by some of these (firstInterval). Later ones are limited in time: in
// each block, cycles without checks follow the cycles that a check has taken,
// in the proportion that the user has set. While a check holds up its block,
// other warps of the block may be checked, too. Warps that ask for time in vain
// may look for watchpoints, which is limited in the same way by itself. A
// window whose executions ask for time in vain too often asks more rarely from
// then on, and one whose executions are granted it asks more often.
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
  /// How many barriers of all threads of the block its lanes have come through;
  /// counted where accesses have RacesInInterval.
  uint32_t Barriers = 0;
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
  dropStaleLines(S.Interval);
  return below(mix(W.Random + 1), Interval) <= Used;
}

/// The logarithm of how many times `Each` fits into `Room`, rounded down;
/// negative: it does not fit.
DEVICE int logOfFits(uint32_t Room, uint32_t Each) {
  const int Log = __builtin_clz(Each | 1) - __builtin_clz(Room | 1);
  return Log < 0 ? -1 : Log - (Each << Log > Room);
}

/// Blocks of this grid, at most 2^32 - 1.
DEVICE uint32_t blocksCounted() {
  const uint64_t Blocks = blocksOfGrid();
  return Blocks >> 32 ? ~0u : uint32_t(Blocks);
}

/// At most how many warps of this grid are on the device at a time.
DEVICE uint32_t warpsAtATime() {
  constexpr uint32_t MostWarps = 64; // Of a multiprocessor.
  const uint32_t Most = MostWarps * __crsan_config.Multiprocessors,
                 Blocks = blocksCounted();
  // The product of more blocks need not fit.
  const uint32_t Warps = Blocks < Most ? Blocks * warpsOfBlock() : Most;
  return Warps < Most ? Warps : Most;
}

/// An estimate of how many blocks of this grid are on a multiprocessor, as a
/// logarithm. The registers that a block takes are not known here: MostThreads
/// threads are assumed to fit.
DEVICE uint32_t blocksBeside() {
  constexpr uint32_t MostThreads = 1024;
  const uint32_t Threads = __nvvm_read_ptx_sreg_ntid_x() *
                           __nvvm_read_ptx_sreg_ntid_y() *
                           __nvvm_read_ptx_sreg_ntid_z();
  uint32_t Shared;
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(Shared));
  const int ByThreads = logOfFits(MostThreads, Threads),
            ByShared = logOfFits(__crsan_config.SharedBytes, Shared),
            ByBlocks =
                logOfFits(blocksCounted(), __crsan_config.Multiprocessors);
  int Log = __builtin_ctz(BlockSlots);
  Log = Log < ByThreads ? Log : ByThreads;
  Log = Log < ByShared ? Log : ByShared;
  Log = Log < ByBlocks ? Log : ByBlocks;
  return Log > 0 ? Log : 0;
}

/// The slot of this block: a check holds up one block, whose other warps may
/// wait at a barrier; other blocks go on. So each slot of a multiprocessor has
/// its time by itself. There are as many as blocks on the multiprocessor, and
/// blocks share one by chance. `Beside` is blocksBeside().
DEVICE uint32_t slotHere(uint32_t Beside) {
  return mix(uint32_t(linearBlock())) & ((1u << Beside) - 1);
}

/// The low bits of Shard::Due.
enum DueBits : uint64_t {
  /// How often the window had been checked that took the slot last, as a
  /// logarithm.
  LevelMask = 31,
  InCheck = 32, ///< The check of the slot goes on.
  /// A window that has been checked less often has asked in vain since.
  IsWanted = 64,
  DueMarks = 127,
};
DEVICE uint32_t levelOf(uint32_t Executed) {
  return 31 - __builtin_clz(Executed | 1);
}

/// For a check that takes `Cycles`: how many cycles after its begin another one
/// of its block may begin.
DEVICE uint64_t cyclesFor(uint32_t Cycles) {
  return uint64_t(Cycles) * __crsan_config.CyclesPerCycle >> 8;
}

/// The cycles that a check probably takes but for its delay.
constexpr uint32_t WithoutDelay = 8000;

/// The cycles that a check probably takes, until they have been measured.
DEVICE uint32_t cyclesExpected() {
  // The mean delay, at two cycles a nanosecond.
  return __crsan_config.DelayNs + WithoutDelay;
}

/// No check is charged for more time than so many expected ones.
constexpr uint32_t MostChecks = 64;

/// A warp joins another one's check only if it can wait so many cycles.
constexpr int64_t LeastWait = 1000;

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

/// The first interval of a window that many blocks come to. When a large grid
/// begins, thousands of warps come to a new window at once, and each request
/// holds up the others. So about EachAsks warps of a multiprocessor ask then,
/// or EachAsks times as many as the budget permits, if that is more.
DEVICE uint32_t firstInterval() {
  constexpr uint32_t EachAsks = 8;
  const uint32_t Warps = warpsAtATime(), Budget = __crsan_config.Budget,
                 Multiprocessors = __crsan_config.Multiprocessors,
                 Asking = Budget > Multiprocessors ? Budget : Multiprocessors;
  if (Asking >= Warps / EachAsks)
    return 1;
  return 1u << logOfFits(Warps, EachAsks * Asking);
}

/// Whether the warps of this block ask, if one block in `Interval` does. Two
/// warps of a block meet only if both are checked, so all that come at about
/// one time draw the same.
DEVICE bool isBlocksTurn(uint32_t Interval) {
  const uint32_t Time = uint32_t(cycleNow() >> 15);
  return below(mix(Time * 0xc2b2ae35u + uint32_t(linearBlock())), Interval) ==
         0;
}

/// Whether a warp asks for a window that has no interval yet, and whose first
/// one is to be `Interval`. On each multiprocessor all warps of the first block
/// ask that comes to the window since another new one: the window may be one of
/// few executions, so `Interval` becomes 1.
DEVICE bool asksForNew(const struct Sampling &S, Counters::Shard &Shard,
                       uint32_t &Interval) {
  constexpr unsigned WindowAt = 16; // Below is a part of the block's number.
  const uint64_t Mine = Address(&S) >> 3 << WindowAt | uint16_t(linearBlock());
  uint64_t Last = loadRelaxed(Shard.NewWindow);
  if ((Last ^ Mine) >> WindowAt) {
    const uint64_t Found = compareAndSwap(Shard.NewWindow, Last, Mine);
    Last = Found == Last ? Mine : Found;
  }
  const bool IsOfWindow = (Last ^ Mine) >> WindowAt == 0;
  if (IsOfWindow && Last != Mine)
    return isBlocksTurn(Interval);
  Interval = 1;
  return true;
}

/// Of the warps that come by a stale line of the L1 cache, one in eight drops
/// it.
DEVICE void mayDropStale(const Warp &W, const struct Sampling &S) {
  if ((mix(W.Random + 15) & 7) == 0)
    dropStaleLines(S.Interval);
}

/// What a warp does with the execution of a window.
enum class Turn : uint32_t {
  Skip,
  Pass,  ///< Looks for watchpoints, but does not wait (passBy).
  Look,  ///< The same, and the time that this takes is charged (chargeLook).
  Check, ///< The execution is counted.
};

/// What a warp at a window has been told.
struct Decision {
  Turn What = Turn::Skip;
  uint32_t Interval = 1; ///< Of the window, from now on.
  /// In the lane that took the slot for its warp, to check or to look, %clock
  /// at that time; 0: the lane has none to give back, since lanes may part in a
  /// check.
  uint32_t Began = 0;
  /// The warp joins a check of its slot, and ends about when that one does if
  /// it waits no longer than so many cycles; 0: it does not join.
  uint32_t Left = 0;
  DEVICE bool checks() const { return What == Turn::Check; }
};

/// The interval of a window after one of its warps has asked for time.
/// `Granted`: it has taken the slot `Due`, whose value was `Seen`; else it has
/// come in vain. `Level` is of the window, and `Slots` how many slots the grid
/// can use at a time.
///
/// A grant halves the interval with a probability of 1 in `Slots`, and a warp
/// in vain doubles it with a probability of 1 in `Slots` times AsksPerTurn. So
/// the interval stays where AsksPerTurn warps come in vain for each that is
/// granted time. That alone does not make windows share the time: the first
/// window of a short block would take all of it. So a window that comes in
/// vain, and has been checked less often than the last one, does not ask more
/// rarely, and says so in the slot; and the next window that takes the slot
/// asks more rarely, unless it has been checked less often, too.
DEVICE uint32_t adapted(const Warp &W, uint32_t Interval, bool Granted,
                        uint64_t &Due, uint64_t Seen, uint32_t Level,
                        uint32_t Slots) {
  constexpr uint32_t AsksPerTurn = 4;
  const bool IsBehind = Level < (Seen & LevelMask);
  if (!Granted && IsBehind) {
    if (!(Seen & IsWanted))
      asm volatile("red.relaxed.gpu.global.or.b64 [%0], %1;" ::"l"(&Due),
                   "l"(uint64_t(IsWanted))
                   : "memory");
    return Interval;
  }
  // At most so many slots count: else a window that is executed rarely would
  // keep its interval for very long.
  constexpr uint32_t MostSlots = 64;
  Slots = Slots < MostSlots ? Slots : MostSlots;
  if (below(mix(W.Random + 11), Granted ? Slots : AsksPerTurn * Slots))
    return Interval;
  if (Granted && (IsBehind || !(Seen & IsWanted)))
    return Interval > 1 ? Interval / 2 : 1;
  const uint32_t Most = __crsan_config.MaxInterval;
  return Interval > Most / 2 ? Most : 2 * Interval;
}

/// No look is charged for more time.
constexpr uint32_t MostLookCycles = 1 << 16;

/// For a look that takes `Cycles`: how many cycles after its begin another one
/// of its block may begin.
DEVICE uint64_t cyclesForLook(uint32_t Cycles) {
  return uint64_t(Cycles) * __crsan_config.CyclesPerLookCycle >> 8;
}

/// Whether a warp may look for watchpoints now. Then others may not before
/// chargeLook() says when. `Next` is of the slot, and was `Seen`.
DEVICE bool takesLook(uint64_t &Next, uint64_t Seen, uint64_t Now) {
  const uint64_t Most = cyclesForLook(MostLookCycles);
  // Of a larger difference, see turnByTime().
  if (Seen > Now && Seen - Now <= Most)
    return false;
  return compareAndSwap(Next, Seen, Now + Most) == Seen;
}

/// Where the time decides: whether the warp may check now one of the `Groups`
/// of its window. A check holds up its block, so other warps of the block that
/// come meanwhile may check as well: every second one joins, if it can end
/// about when the first one does. The others pass by. Blocks that share a slot
/// join each other's checks, too. The block is charged for the first check
/// alone. `MayLook`: a warp that comes in vain may look for watchpoints.
DEVICE Decision turnByTime(const Warp &W, struct Sampling &S, uint32_t Groups,
                           bool MayLook) {
  Decision D;
  Counters::Shard &Shard = shardHere();
  uint32_t Used = loadNear(S.Interval), AtLeast = 1;
  if (Used == 0) {
    AtLeast = firstInterval();
    if (AtLeast > 1 && !asksForNew(S, Shard, AtLeast)) {
      D.Interval = AtLeast;
      mayDropStale(W, S);
      return D;
    }
    Used = AtLeast;
  }
  const uint32_t Beside = blocksBeside();
  const uint32_t Slot = slotHere(Beside);
  uint64_t &Due = Shard.Due[Slot];
  // The reads are under way together: none waits for another.
  uint32_t Stored, Executed;
  loadRelaxed(S.Interval, Stored, Executed);
  uint64_t Seen = loadRelaxed(Due);
  const uint64_t NextLook = MayLook ? loadRelaxed(Shard.NextLook[Slot]) : 0;
  if (Stored < AtLeast)
    raise(S.Interval, Stored = AtLeast);
  D.Interval = Stored;
  if (isWithinBudget(S, Executed)) {
    D.What = Turn::Check;
    return D;
  }
  // The check of a window's first group leaves no time for the second, which
  // comes at once: the groups take turns.
  if (Groups > 1 && below(mix(W.Random + 9), Groups) != 0)
    return D;
  if (D.Interval != Used)
    mayDropStale(W, S);
  const uint32_t Check = cyclesExpected(), Level = levelOf(Executed);
  const int64_t Period = int64_t(cyclesFor(Check));
  const uint64_t Now = cycleNow();
  // No check is charged so much: the clock has been set back, or a warp has
  // been moved to a multiprocessor whose clock shows another time.
  constexpr int64_t Never = 1024;
  // A check that takes longer than expected keeps its slot. A check that has
  // taken longer than any check is charged for has ended without endTurn(): its
  // lanes have exited.
  const int64_t Longest =
      Seen & InCheck ? int64_t(MostChecks) * int64_t(Check) : 0;
  if (const int64_t Early = int64_t(Seen - Now);
      Early <= -Longest || Early > Never * Period) {
    const uint64_t Last = Seen;
    Seen = compareAndSwap(
        Due, Last, ((Now + Period) & ~uint64_t(DueMarks)) | InCheck | Level);
    if (Seen == Last)
      D.Began = uint32_t(Now) | 1;
  }
  if (D.Began) {
    D.What = Turn::Check;
  } else if (Seen & InCheck) {
    // Since the check goes on, it has not been charged yet.
    const int64_t Left =
        int64_t(Seen - Now) - Period + int64_t(Check) - int64_t(WithoutDelay);
    const bool Joins =
        Left > LeastWait && Left < int64_t(Check) && (mix(W.Random + 12) & 1);
    D.What = Joins ? Turn::Check : Turn::Pass;
    D.Left = Joins ? uint32_t(Left) : 0;
  } else if (MayLook && takesLook(Shard.NextLook[Slot], NextLook, Now)) {
    D.What = Turn::Look;
    D.Began = uint32_t(Now) | 1;
  }
  if (D.checks())
    countExecution(S);
  const bool Granted = D.checks() && D.Began;
  // By an interval that is out of date, a warp came in vain.
  if (D.Left || (!Granted && D.Interval != Used))
    return D;
  const uint32_t Blocks = blocksCounted(),
                 Slots = __crsan_config.Multiprocessors << Beside;
  const uint32_t Next = adapted(W, D.Interval, Granted, Due, Seen, Level,
                                Blocks < Slots ? Blocks : Slots);
  // Another warp may have made it longer meanwhile.
  if (Next > D.Interval)
    raise(S.Interval, Next);
  else if (Next < D.Interval)
    storeRelaxed(S.Interval, Next);
  D.Interval = Next;
  return D;
}

/// What this warp does now with one of the `Groups` of its window. `MayLook`:
/// if it comes in vain, it may look for watchpoints, as far as
/// Config::CyclesPerLookCycle permits, which is not 0 then.
DEVICE Decision decide(const Warp &W, struct Sampling *S, uint32_t Groups,
                       bool MayLook = false) {
  // Lanes of the warp may have parted since: each part counts for itself.
  const uint32_t Here = activeMask(), First = __builtin_ctz(Here);
  Decision D;
  if (lane() == First) {
    if (__crsan_config.CyclesPerCycle && __crsan_config.Budget)
      D = turnByTime(W, *S, Groups, MayLook);
    else if (isTurnByNumber(W, *S, D.Interval))
      D.What = Turn::Check;
  }
  return {Turn(broadcast(Here, uint32_t(D.What), First)),
          broadcast(Here, D.Interval, First), D.Began,
          broadcast(Here, D.Left, First)};
}

/// The check is over, and took `More` cycles of the block's time more than
/// expected.
DEVICE void endTurn(const Decision &Mine, uint64_t More = 0) {
  if (Mine.Began == 0)
    return;
  uint64_t &Due = shardHere().Due[slotHere(blocksBeside())];
  // turnByTime() has set InCheck: subtracting it clears the bit.
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(&Due),
               "l"((More & ~uint64_t(DueMarks)) - InCheck)
               : "memory");
}

/// The same, where what the check took differs from what was expected.
DEVICE void charge(const Decision &Mine) {
  // A warp may have been moved to a multiprocessor with another clock.
  const uint64_t Took = uint32_t(cycleNow()) - Mine.Began,
                 Most = MostChecks * uint64_t(cyclesExpected());
  endTurn(Mine, cyclesFor(uint32_t(Took < Most ? Took : Most)) -
                    cyclesFor(cyclesExpected()));
}

/// The look is over.
DEVICE void chargeLook(const Decision &Mine) {
  if (Mine.Began == 0)
    return;
  const uint64_t Now = cycleNow();
  const uint32_t Took = uint32_t(Now) - Mine.Began,
                 Charged = Took < MostLookCycles ? Took : MostLookCycles;
  storeRelaxed(shardHere().NextLook[slotHere(blocksBeside())],
               Now - Charged + cyclesForLook(Charged));
}

/// How many windows of a loop to let pass before the next check; Interval on
/// average.
DEVICE uint32_t nextSkip(const Warp &W, uint32_t Interval) {
  return Interval <= 1 ? 0 : below(mix(W.Random + 2), 2 * Interval - 1);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_SAMPLING_H
