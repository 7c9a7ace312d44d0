// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which warps execute a kernel's plain body, which has no checks
// (lib/Transforms/PlainBody.h).
//
// The warps of a block execute the same body: races in shared memory are found
// where two warps of one block meet. While the windows of a kernel are new, all
// blocks that may (Config::WarpOneIn) execute the body with checks. As the
// windows' intervals grow, fewer blocks do: at least one in 2^MostPlain, unless
// WarpOneIn is larger. In these, windows are sampled as before, and more often
// if too few checks take place. With EarlyBlocks, most large grids leave the
// checks to the blocks that begin early, whether windows are new or not.
#ifndef CRSAN_DEVICE_COLLIDER_PLAINBODY_H
#define CRSAN_DEVICE_COLLIDER_PLAINBODY_H

#include "collider/Sampling.h"

namespace crsan::device {

/// At least one block in so many executes the body with checks, as a logarithm.
constexpr uint32_t MostPlain = 3;
/// choose_plain has all blocks that may execute the checks do so while a window
/// has been checked less often, and has not used up its budget; nor while it
/// has been checked in less than an eighth of its budget.
constexpr uint32_t SureChecks = 16;
/// A window that has not been executed in so many grids is not waited for.
constexpr uint32_t GridsToWait = 2;

/// Counts this grid in `Word`, if it is another one than the last that was
/// counted there. Returns how many have been counted, at most GridsToWait.
DEVICE uint32_t countGrid(uint32_t &Word) {
  const uint32_t Last = loadRelaxed(Word), Grid = uint32_t(gridHere()) << 3;
  const uint32_t Counted = Last & 7;
  if (Counted == GridsToWait || (Counted && (Last ^ Grid) >> 3 == 0))
    return Counted;
  storeRelaxed(Word, Grid | (Counted + 1));
  return Counted + 1;
}

/// One in 2^RenewsLog of the warps that begin the body with checks calls
/// choose_plain. Of these, only so many choose that about one does of those
/// that are on the device at a time, and one more for each WarpsAChooser: a
/// choice takes long, and all choosers read and write one place.
constexpr uint32_t RenewsLog = 4, WarpsAChooser = 512;

/// Chooses how many warps of a kernel execute its checks from now on. `Kernel`:
/// the Sampling that __crsan_is_plain reads, followed by the `Windows` windows
/// of the kernel.
ENTRY void __crsan_choose_plain(struct Sampling *Kernel, uint32_t Windows) {
  const Config &C = __crsan_config;
  if (!(C.Flags & Enabled)) {
    Kernel->Interval = ~0u;
    return;
  }
  // Where the number of executions decides, all of them are counted.
  if ((C.Flags & Paused) || C.CyclesPerCycle == 0 || C.Budget == 0)
    return;
  const uint32_t Here = activeMask(), First = __builtin_ctz(Here);
  // The others execute the plain body.
  const uint32_t Chosen = broadcast(Here, loadNear(Kernel->Interval), First),
                 Share = Chosen > C.WarpOneIn ? Chosen : C.WarpOneIn,
                 Warps = warpsAtATime() / (Share ? Share : 1);
  if (below(broadcast(Here, random(), First), Warps) >=
      (Warps / WarpsAChooser + 1) << RenewsLog)
    return;
  uint32_t Grids = 0;
  if (lane() == First)
    Grids = countGrid(Kernel->Executed);
  Grids = broadcast(Here, Grids, First);
  // The intervals, as logarithms, of the windows that have used up their
  // budget, of those that this lane looks at.
  uint32_t Logs = 0;
  const uint32_t Few = C.Budget < SureChecks ? C.Budget : SureChecks,
                 Sure = C.Budget / 8 > Few ? C.Budget / 8 : Few;
  bool IsNew = false;
  const uint32_t Lanes = __builtin_popcount(Here);
  uint32_t I = __builtin_popcount(Here & ((1u << lane()) - 1));
#pragma unroll 1
  for (; I < Windows; I += Lanes) {
    const struct Sampling &Window = Kernel[1 + I];
    uint32_t Interval, Executed;
    loadRelaxed(Window.Interval, Interval, Executed);
    IsNew |= Executed == 0 ? Grids < GridsToWait : Executed < Sure;
    if (Executed >= C.Budget)
      Logs |= Interval ? 1u << (31 - __builtin_clz(Interval)) : 1;
  }
  // A window of rare executions would keep all warps at the checks, and one of
  // many would leave it unchecked: halfway between the least interval and the
  // greatest. Half of that, since the windows keep an interval of their own.
  uint32_t Least = 32, Most = 0;
#pragma unroll 1
  for (uint32_t Log = 0; Log < 32 && __nvvm_vote_any_sync(Here, Logs >> Log);
       ++Log)
    if (__nvvm_vote_any_sync(Here, Logs >> Log & 1)) {
      Least = Least < Log ? Least : Log;
      Most = Log;
    }
  uint32_t Plain = (Least + Most) / 2;
  Plain = Plain ? Plain - 1 : 0;
  Plain = Plain < MostPlain ? Plain : MostPlain;
  if (Most == 0 || __nvvm_vote_ballot_sync(Here, IsNew))
    Plain = 0;
  if (lane() == First)
    storeRelaxed(Kernel->Interval, 1u << Plain);
}

/// Whether this block leaves the checks to earlier blocks. A check holds up its
/// block for longer than most blocks run. While other blocks are still to
/// begin, that hardly makes the grid take longer. So the later half of the
/// blocks executes no checks, in grids that fill the device at least twice. In
/// one of SparedGrids such grids, drawn anew in each run, all blocks may
/// execute checks.
HELPER bool leavesToEarlier() {
  if (!(__crsan_config.Flags & EarlyBlocks))
    return false;
  constexpr uint32_t SparedGrids = 4;
  constexpr uint64_t MostThreads = 2048; // Of a multiprocessor.
  const uint64_t Blocks = blocksOfGrid(),
                 Threads = Blocks * __nvvm_read_ptx_sreg_ntid_x() *
                           __nvvm_read_ptx_sreg_ntid_y() *
                           __nvvm_read_ptx_sreg_ntid_z();
  if (2 * linearBlock() < Blocks ||
      Threads < 2 * MostThreads * __crsan_config.Multiprocessors)
    return false;
  // All blocks of a grid draw the same, unless the grid runs while Time
  // changes, about every 17 ms. The time is part of the draw because all
  // launches of a graph's node have the same grid number.
  uint64_t Nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(Nanoseconds));
  const uint32_t Time = uint32_t(Nanoseconds >> 24);
  return below(mix(uint32_t(gridHere()) * 0x85ebca6bu + Time), SparedGrids);
}

/// Entry point, inlined by the pass at the head of a kernel that has a plain
/// body. Returns whether this warp executes it: all lanes do, or none.
extern "C" __attribute__((device, always_inline, used, convergent)) uint32_t
__crsan_is_plain(const struct Sampling *Kernel) {
  uint32_t Clock;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(Clock));
  const uint32_t Chosen = loadNear(Kernel->Interval),
                 AtLeast = __crsan_config.WarpOneIn;
  // All warps of a block begin at almost one time, and so draw the same: two
  // warps meet only if both execute checks. Neighbouring blocks, which race
  // most, draw independently.
  const uint32_t Draw =
      mix((Clock >> 15) * 0x9e3779b1u + uint32_t(linearBlock()));
  bool IsTurn = below(Draw, Chosen > AtLeast ? Chosen : AtLeast) == 0;
  // A small kernel that is launched once would hardly be checked. Once a warp
  // has chosen, this is over.
  constexpr uint32_t FewBlocks = 64;
  if (Chosen == 0)
    IsTurn |= blocksOfGrid() < FewBlocks;
  else if (IsTurn)
    IsTurn = !leavesToEarlier();
  // The mask may name lanes that the block does not have: vote.sync waits only
  // for lanes that have not exited, and these count as exited.
  return !__nvvm_vote_any_sync(~0u, IsTurn);
}

/// Entry point, inlined by the pass at the beginning of the body with checks.
/// A few of the warps that come here choose how many later warps execute the
/// checks.
extern "C" __attribute__((device, always_inline, used)) void
__crsan_renew_plain(struct Sampling *Kernel, uint32_t Windows) {
  uint32_t Clock;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(Clock));
  if (Clock * 0x85ebca6bu >> (32 - RenewsLog) == 0)
    __crsan_choose_plain(Kernel, Windows);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_PLAINBODY_H
