// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the clocks of a grid begin.
#ifndef CRSAN_DEVICE_METADATA_GRIDSTART_H
#define CRSAN_DEVICE_METADATA_GRIDSTART_H

#include "metadata/GridSample.h"

namespace crsan::device {

/// The largest clock of all warps that have ended. `Here` is the mask of the
/// lanes that call together.
DEVICE uint32_t largestEnded(uint32_t Here) {
  auto At = [](uint32_t I) {
    return loadRelaxed(table<MaxClock>(MaxClocksAt)[I].Clock);
  };
  uint32_t Largest = 0;
  if (Here == ~0u) {
    static_assert(NumMaxClocks == 32);
    Largest = At(lane());
#pragma unroll
    for (uint32_t Step = 16; Step > 0; Step /= 2) {
      const uint32_t Other = __nvvm_shfl_sync_bfly_i32(~0u, Largest, Step, 31);
      Largest = Other > Largest ? Other : Largest;
    }
    return Largest;
  }
#pragma unroll 1
  for (uint32_t I = 0; I < NumMaxClocks; ++I)
    Largest = At(I) > Largest ? At(I) : Largest;
  return Largest;
}

/// Where the clocks of a grid begin.
struct GridClocks {
  /// Larger than any clock of a grid that had ended when the first block of
  /// this grid began.
  uint32_t Start;
  uint32_t Floor; ///< Accesses at clocks below Floor are of grids that are
                  ///< ordered before this one.
  bool IsCommon;  ///< All warps for which this is set have the same Start.
  bool IsFirst;   ///< This is the first grid of its kernel.
};

/// Determines where the clocks of `Grid` begin, unless a warp has done so
/// before. `Here` is the mask of the lanes that call together.
DEVICE GridClocks determineStart(uint64_t Grid, const KernelHere &K,
                                 uint32_t Here) {
  GridStart &G = table<GridStart>(GridStartsAt)[Grid & (NumGridStarts - 1)];
  const uint32_t Key = keyOfGrid(Grid);
  const uint32_t Largest = largestEnded(Here);
  beginGrid(G, Grid, K, Here, Largest + 1);
  const uint32_t Leader = __builtin_ctz(Here);
  uint64_t Now = 0;
  uint32_t Horizon = 0, IsFirst = 0;
  if (lane() == Leader) {
    storeRelaxed(G.IsFirst, firstOfKernel(Grid, K.Tag) == Grid);
    Now = loadRelaxed(G.KeyAndClock);
    while (uint32_t(Now >> 32) != Key) {
      // The element belongs to a later grid by now. This grid used the element
      // before that, and all of its warps that read it then had one clock.
      if (Now && int32_t(Key - uint32_t(Now >> 32)) < 0) {
        Now = Largest + 1;
        break;
      }
      const uint64_t Wanted = uint64_t(Key) << 32 | (Largest + 1);
      const uint64_t Was = compareAndSwap(G.KeyAndClock, Now, Wanted);
      Now = Was == Now ? Wanted : Was;
    }
    fenceDevice();
    Horizon = loadRelaxed(G.Horizon);
    IsFirst = loadRelaxed(G.IsFirst);
  }
  Now = shuffle(Here, Now, Leader);
  Horizon = __nvvm_shfl_sync_idx_i32(Here, Horizon, Leader, 31);
  IsFirst = __nvvm_shfl_sync_idx_i32(Here, IsFirst, Leader, 31);
  const uint32_t Start = uint32_t(Now);
  const bool IsCommon = uint32_t(Now >> 32) == Key;
  return {Start, IsCommon && Horizon < Start ? Horizon : Start, IsCommon,
          IsCommon && IsFirst};
}

/// A copy as it is now: the clock, the key, the floor, and IsFirst.
using FoundStart = uint32_t __attribute__((ext_vector_type(4)));

DEVICE FoundStart loadStart(const GridStart &Copy) {
  uint32_t Start, Key, Floor, IsFirst;
  asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(Start), "=r"(Key), "=r"(Floor), "=r"(IsFirst)
               : "l"(&Copy)
               : "memory");
  return {Start, Key, Floor, IsFirst};
}

/// As startOf(), where the multiprocessor has no copy yet. One warp of the
/// multiprocessor determines the start, and the others wait for its copy. They
/// wait for a limited time and then determine the start, too: the lanes that
/// determine it may be of their own warp, and not go on while these lanes wait.
HELPER FoundStart awaitStart(uint64_t Grid, KernelHere K, uint32_t Here) {
  NearGridStart &Near = nearStart(Grid);
  const uint32_t Key = keyOfGrid(Grid), Leader = __builtin_ctz(Here);
  uint32_t Asked = 0;
  if (lane() == Leader)
    asm volatile("atom.relaxed.gpu.exch.b32 %0, [%1], %2;"
                 : "=r"(Asked)
                 : "l"(&Near.Asks), "r"(Key)
                 : "memory");
  const bool IsWaiting = broadcast(Here, Asked, Leader) == Key;
#pragma unroll 1
  for (uint32_t Tries = 0; IsWaiting && Tries < 64; ++Tries) {
    pause(200);
    const FoundStart Found = loadStart(Near.Copy);
    if (__nvvm_vote_all_sync(Here, Found[1] == Key))
      return Found;
  }
  const GridClocks Now = determineStart(Grid, K, Here);
  // Only a start that all warps of the grid agree on.
  if (Now.IsCommon && lane() == Leader) {
    storeRelaxed(Near.Copy.Horizon, Now.Floor);
    storeRelaxed(Near.Copy.IsFirst, Now.IsFirst);
    storeRelaxed(Near.Began, cycleNow());
    fenceDevice();
    storeRelaxed(Near.Copy.KeyAndClock, uint64_t(Key) << 32 | Now.Start);
  }
  return {Now.Start, Now.IsCommon ? Key : 0, Now.Floor, Now.IsFirst};
}

/// Finds where the clocks of `Grid` begin; the first warps of the grid
/// determine it. `Here` is the mask of the lanes that call together.
DEVICE GridClocks startOf(uint64_t Grid, const KernelHere &K, uint32_t Here) {
  const uint32_t Key = keyOfGrid(Grid);
  FoundStart Found = loadStart(nearStart(Grid).Copy);
  if (!__nvvm_vote_all_sync(Here, Found[1] == Key))
    Found = awaitStart(Grid, K, Here);
  return {Found[0], Found[2], Found[1] == Key, Found[3] != 0};
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_GRIDSTART_H
