//===- Clocks.h - How clocks of warps rise ---------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_CLOCKS_H
#define CRSAN_DEVICE_METADATA_CLOCKS_H

#include "metadata/Threads.h"

namespace crsan::device {

/// Whether another live block has, or had, this warp's number, and may have
/// overwritten what the warp and its lanes know: then the warp may have heard
/// of everything. To be asked once that has been read.
DEVICE bool isMixed(const WarpState &W) { return loadRelaxed(W.Alive) & Mixed; }

DEVICE bool isFirstHere() {
  return lane() == uint32_t(__builtin_ctz(activeMask()));
}

/// Whether a cell has no room for an access at this clock, or the next.
DEVICE bool isUsedUp(uint32_t Clock) {
  return Clock + 1 >= Accessor::ExactClocks;
}

/// The warp's clock never falls, whatever its lanes do at the same time: a lane
/// that has accessed memory at a clock must not release by a smaller one.
DEVICE void raiseClock(WarpState &W, uint32_t Value) {
  asm volatile("red.relaxed.cta.max.u32 [%0], %1;" ::"l"(&W.Clock), "r"(Value)
               : "memory");
  if (isUsedUp(Value))
    setFlags(W.Place, NeedsCare);
}

/// Sets the warp's clock, if all its lanes are here together and have one value
/// for it, which is above all that they have raised it to. Then nobody else
/// changes it meanwhile, and it need not leave the multiprocessor's cache.
DEVICE bool setClock(WarpState &W, uint32_t Value) {
  // One exchange, with a fresh mask: lanes may part at any time. And all of
  // them set it before any goes on, lest it falls.
  uint32_t IsSet;
  asm volatile("{ .reg .pred p, q; .reg .b32 m, v; activemask.b32 m; "
               "match.all.sync.b32 v|p, %1, m; "
               "setp.eq.u32 q, m, 0xffffffff; and.pred q, q, p; "
               "@q st.u32 [%2], %1; @q bar.warp.sync 0xffffffff; "
               "selp.u32 %0, 1, 0, q; }"
               : "=r"(IsSet)
               : "r"(Value), "l"(&W.Clock)
               : "memory");
  if (IsSet && isUsedUp(Value))
    setFlags(W.Place, NeedsCare);
  return IsSet;
}

/// As above, where all lanes of the warp have met: whatever they have accessed
/// at smaller clocks is ordered before what any of them does from now on.
DEVICE bool setMet(WarpState &W, uint32_t Value) {
  uint32_t IsSet;
  asm volatile("{ .reg .pred p, q; .reg .b32 m, v; activemask.b32 m; "
               "match.all.sync.b32 v|p, %1, m; "
               "setp.eq.u32 q, m, 0xffffffff; and.pred q, q, p; "
               "@q st.u32 [%2], %1; @q st.u32 [%3], %1; "
               "@q bar.warp.sync 0xffffffff; selp.u32 %0, 1, 0, q; }"
               : "=r"(IsSet)
               : "r"(Value), "l"(&W.Clock), "l"(&W.Met)
               : "memory");
  if (IsSet && isUsedUp(Value))
    setFlags(W.Place, NeedsCare);
  return IsSet;
}

/// As above, behind a barrier of the block: all go on from one clock.
DEVICE bool setBarrier(WarpState &W, uint32_t Value) {
  // Who is ahead of it, keeps the others from setting it.
  const uint32_t Wanted = loadNear(W.Clock) <= Value ? Value : ~lane();
  uint32_t IsSet;
  static_assert(offsetof(WarpState, Clock) == 0 &&
                offsetof(WarpState, Barrier) == 4);
  asm volatile("{ .reg .pred p, q; .reg .b32 m, v; activemask.b32 m; "
               "match.all.sync.b32 v|p, %1, m; "
               "setp.eq.u32 q, m, 0xffffffff; and.pred q, q, p; "
               "@q st.v2.u32 [%2], {%3, %3}; @q bar.warp.sync 0xffffffff; "
               "selp.u32 %0, 1, 0, q; }"
               : "=r"(IsSet)
               : "r"(Wanted), "l"(&W.Clock), "r"(Value)
               : "memory");
  if (IsSet && isUsedUp(Value))
    setFlags(W.Place, NeedsCare);
  return IsSet;
}

/// Lets the warp's clock rise: accesses until now are told from later ones.
/// Lanes that do so together share a step.
DEVICE uint32_t step(const Self &Me) {
  WarpState &W = Me.warp();
  const uint32_t Now = loadNear(W.Clock) + 1;
  // Those that are not together, each for itself: one that overtakes the others
  // must find it done.
  if (!setClock(W, Now))
    raiseClock(W, Now);
  return Now;
}
/// As above, before something is told to others.
DEVICE uint32_t tick(const Self &Me) {
  const uint32_t Now = step(Me);
  Self::stateOf(Me.number(), Me.Lane).give(Now);
  return Now;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_CLOCKS_H
