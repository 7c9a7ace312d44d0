// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which grids are followed, where not all are.
//
// What is not followed executes the plain body of its kernel
// (lib/Transforms/PlainBody.h). All threads of a block have to decide alike: at
// a barrier, a plain body may not meet one with checks. So have all blocks of a
// grid, unless they synchronise with nothing outside of them (EnterIsolated): a
// block that is not followed might order two that are.
#ifndef CRSAN_DEVICE_METADATA_GRIDSAMPLE_H
#define CRSAN_DEVICE_METADATA_GRIDSAMPLE_H

#include "metadata/LaunchOrder.h"

namespace crsan::device {

/// The first grid of the kernel `Tag` (kernelTag), of which `Grid` is one.
/// Kernels whose tags share an entry share the answer, which never changes.
DEVICE uint64_t firstOfKernel(uint64_t Grid, uint32_t Tag) {
  uint64_t &First = table<uint64_t>(FirstGridsAt)[Tag % NumFirstGrids];
  uint64_t Was = loadRelaxed(First);
  if (Was == 0)
    Was = compareAndSwap(First, 0, Grid + 1);
  return Was ? Was - 1 : Grid;
}
/// The key of a grid in a GridStart: never 0, and larger for later grids
/// (modulo 2^32).
DEVICE uint32_t keyOfGrid(uint64_t Grid) { return uint32_t(Grid) * 2 + 1; }

/// The number of this multiprocessor.
DEVICE uint32_t smid() {
  uint32_t Sm;
  asm("mov.u32 %0, %%smid;" : "=r"(Sm));
  return Sm;
}
/// This multiprocessor's copy of what is known of `Grid`.
DEVICE NearGridStart &nearStart(uint64_t Grid) {
  return table<NearGridStart>(
      NearGridStartsAt)[smid() % NumNearPlaces * NumNearGrids +
                        Grid % NumNearGrids];
}

//===----------------------------------------------------------------------===//
// By chance (Sampled)
//===----------------------------------------------------------------------===//

/// Whether `Grid`, of the kernel `Tag`, is drawn: the first grid of a kernel
/// with a probability of 1 in FollowOneIn, and another one with a probability
/// that falls with the number of grids that the context has begun since. The
/// answer depends on nothing that changes while the grid runs.
DEVICE bool isDrawn(uint64_t Grid, uint32_t Tag) {
  const Metadata &M = metadata();
  const uint64_t First = firstOfKernel(Grid, Tag);
  const uint64_t Since = Grid > First ? Grid - First : 0;
  const uint64_t OneIn = M.FollowOneIn * (1 + Since);
  uint32_t Draw = (uint32_t(Grid) * 0x9e3779b1u) ^ (Tag * 0x85ebca6bu) ^ M.Salt;
  Draw = (Draw ^ Draw >> 16) * 0x7feb352du;
  Draw = (Draw ^ Draw >> 15) * 0x846ca68bu;
  Draw ^= Draw >> 16;
  return Draw * OneIn >> 32 == 0 && OneIn >> 32 == 0;
}

//===----------------------------------------------------------------------===//
// By the time that they take (FollowLimit)
//===----------------------------------------------------------------------===//

/// The time of the device's global timer, in nanoseconds. Where thousands of
/// threads ask for it, each waits long.
DEVICE uint64_t timeNow() {
  uint64_t Time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(Time));
  return Time;
}
/// The cycles that this multiprocessor has counted.
DEVICE uint64_t cycleNow() {
  uint64_t Cycle;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(Cycle));
  return Cycle;
}

/// The KernelTime of grids of the kernel `Tag` of about the size of this one:
/// what a kernel does in a larger grid may be new.
DEVICE uint32_t kernelTimeHere(uint32_t Tag) {
  const uint32_t Size = (64 - __builtin_clzll(blocksOfGrid())) / 2;
  return mix(Tag + Size) % NumKernelTimes;
}
DEVICE KernelTime &kernelTime(uint32_t I) {
  return table<KernelTime>(KernelTimesAt)[I];
}
DEVICE BlockTime &blockTime(uint32_t FirstWarp) {
  return table<BlockTime>(BlockTimesAt)[FirstWarp];
}
DEVICE NearTime &nearTime() {
  return table<NearTime>(NearTimesAt)[smid() % NumNearPlaces];
}

/// A block of `Grid`, of the kernel `Tag`, begins that is followed. Called by
/// one thread.
DEVICE void noteBegin(uint32_t FirstWarp, uint64_t Grid, uint32_t Tag) {
  FollowLimit &L = metadata().Limit;
  if (!L.KernelTime)
    return;
  BlockTime &T = blockTime(FirstWarp);
  const uint32_t Kernel = kernelTimeHere(Tag);
  storeRelaxed(T.Began, cycleNow());
  storeRelaxed(T.Kernel, Kernel);
  if (loadNear(kernelTime(Kernel).First) == 0)
    compareAndSwap(kernelTime(Kernel).First, 0, Grid + 1);
  if (loadNear(L.FirstBegan) == 0)
    compareAndSwap(L.FirstBegan, 0, timeNow());
}

/// A warp of such a block, of `Grid`, ends. Some of the blocks add up the time,
/// on each multiprocessor about once in a microsecond.
DEVICE void noteEnd(uint32_t FirstWarp, uint64_t Grid) {
  FollowLimit &L = metadata().Limit;
  if (!L.KernelTime || linearBlock() % 16)
    return;
  const uint64_t Cycle = cycleNow();
  NearTime &Near = nearTime();
  if (Cycle - loadNear(Near.Noted) < 1500)
    return;
  storeRelaxed(Near.Noted, Cycle);
  const BlockTime &T = blockTime(FirstWarp);
  KernelTime &K = kernelTime(loadRelaxed(T.Kernel));
  // The first grid checks more than others, and maps memory.
  if (loadRelaxed(K.First) == Grid + 1)
    return;
  // A cycle takes about 9/16 ns.
  const uint64_t Now = timeNow(),
                 Began = Now - (Cycle - loadRelaxed(T.Began)) * 9 / 16;
  uint64_t From;
  asm volatile("atom.relaxed.gpu.max.u64 %0, [%1], %2;"
               : "=l"(From)
               : "l"(&K.Until), "l"(Now)
               : "memory");
  From = From > Began ? From : Began;
  if (Now <= From)
    return;
  const uint64_t Spent = add(K.Spent, Now - From) + (Now - From);
  add(L.Spent, Now - From);
  // Later grids have to ask. This one may have begun to.
  if (Spent >= uint64_t(L.KernelTime) * 500 && loadNear(L.From) > Grid + 1)
    storeRelaxed(L.From, Grid + 1);
}

/// Whether more may be followed of grids like this one, of the kernel `Tag`.
DEVICE bool hasTime(uint32_t Tag) {
  const FollowLimit &L = metadata().Limit;
  const uint32_t Factor = loadNear(metadata().HasOverlaps) ? OverlapFactor : 1;
  if (loadNear(kernelTime(kernelTimeHere(Tag)).Spent) <
      uint64_t(L.KernelTime) * 1000 * Factor)
    return true;
  NearTime &Near = nearTime();
  const uint64_t Cycle = cycleNow();
  if (Cycle - loadNear(Near.Asked) < 20000)
    return loadNear(Near.HasTime);
  const uint64_t Since = timeNow() - loadRelaxed(L.FirstBegan);
  const uint32_t Has = loadRelaxed(L.Spent) * 100 < Since * L.Percent;
  storeRelaxed(Near.HasTime, Has);
  storeRelaxed(Near.Asked, Cycle);
  return Has;
}

/// Whether `Grid`, of the kernel `Tag`, is followed. Called by any number of
/// its threads. The first one decides and writes the answer down for the
/// others. One word is enough, since only one grid runs at a time: once two may
/// (HasOverlaps), the word never changes again.
DEVICE bool isGridFollowed(uint64_t Grid, uint32_t Tag) {
  FollowLimit &L = metadata().Limit;
  const uint32_t Key = keyOfGrid(Grid);
  uint64_t Latest = loadRelaxed(L.Latest);
#pragma unroll 1
  while (uint32_t(Latest >> 32) != Key) {
    if (Latest & IsLast)
      return true;
    uint64_t Next = Latest | IsLast;
    if (!loadRelaxed(metadata().HasOverlaps)) {
      Next = uint64_t(Key) << 32 | (hasTime(Tag) ? 0 : IsLeftOut);
    } else if (Latest & IsLeftOut) {
      // That grid may run beside this one.
      setFlags(metadata().Foreign, ForeignUnknown);
      fenceDevice();
    }
    const uint64_t Was = compareAndSwap(L.Latest, Latest, Next);
    Latest = Was == Latest ? Next : Was;
  }
  return !(Latest & IsLeftOut);
}

/// As isGridFollowed(), for a warp. One warp of the multiprocessor asks, and
/// the others wait for its copy of the answer; they wait for a limited time,
/// since the lanes that ask may be of their own warp.
HELPER bool askIsFollowed(uint64_t Grid, uint32_t Tag, uint32_t Here) {
  NearGridStart &Near = nearStart(Grid);
  const uint32_t Key = keyOfGrid(Grid), Leader = __builtin_ctz(Here);
  uint64_t Found = loadRelaxed(Near.Followed);
  if (__nvvm_vote_all_sync(Here, uint32_t(Found) == Key))
    return Found >> 32 == 0;
  uint32_t Asked = 0;
  if (lane() == Leader)
    asm volatile("atom.relaxed.gpu.exch.b32 %0, [%1], %2;"
                 : "=r"(Asked)
                 : "l"(&Near.AsksFollowed), "r"(Key)
                 : "memory");
  const bool IsWaiting = broadcast(Here, Asked, Leader) == Key;
#pragma unroll 1
  for (uint32_t Tries = 0; IsWaiting && Tries < 64; ++Tries) {
    pause(200);
    Found = loadRelaxed(Near.Followed);
    if (__nvvm_vote_all_sync(Here, uint32_t(Found) == Key))
      return Found >> 32 == 0;
  }
  uint32_t Is = 0;
  if (lane() == Leader) {
    Is = isGridFollowed(Grid, Tag);
    storeRelaxed(Near.Followed, uint64_t(!Is) << 32 | Key);
  }
  return broadcast(Here, Is, Leader);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_GRIDSAMPLE_H
