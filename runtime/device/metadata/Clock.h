// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of a warp's clock.
#ifndef CRSAN_DEVICE_METADATA_CLOCK_H
#define CRSAN_DEVICE_METADATA_CLOCK_H

#include "metadata/Accessor.h"
#include "metadata/ThreadState.h"

namespace crsan::device {

/// Whether a cell has no room for an access at this clock, or at the next.
DEVICE bool isUsedUp(uint32_t Clock) {
  return Clock + 1 >= Accessor::ExactClocks;
}

/// Raises the warp's clock to at least `Value`, by an atomic maximum. The clock
/// never falls, whatever the lanes of the warp do at the same time: a lane that
/// has accessed memory at a clock must not release by a smaller one.
DEVICE void raiseClock(WarpState &W, uint32_t Value) {
  asm volatile("red.relaxed.cta.max.u32 [%0], %1;" ::"l"(&W.Clock), "r"(Value)
               : "memory");
  if (isUsedUp(Value))
    setFlags(W.Place, NeedsCare);
}

/// If all 32 lanes are here together with one `Vote`, stores `Value` to
/// `Clock`, which is the warp's, and if `HasSecond` to `Second`. Each lane's
/// value is above all that the lane has raised the clock to, so no other thread
/// changes the clock meanwhile, and plain stores in the L1 cache are enough.
/// Returns whether it has stored.
template <bool HasSecond>
DEVICE bool setTogether(WarpState &W, uint32_t Vote, uint32_t Value,
                        uint32_t &Second) {
  // The mask is taken in the same statement, since lanes may part at any time.
  // All lanes store before any lane goes on; otherwise a late store could lower
  // the clock.
  uint32_t IsSet;
  asm volatile("{ .reg .pred p, q, r; .reg .b32 m, v; activemask.b32 m; "
               "match.all.sync.b32 v|p, %1, m; "
               "setp.eq.u32 q, m, 0xffffffff; and.pred q, q, p; "
               "setp.ne.and.u32 r, %5, 0, q; "
               "@q st.u32 [%2], %3; @r st.u32 [%4], %3; "
               "@q bar.warp.sync 0xffffffff; selp.u32 %0, 1, 0, q; }"
               : "=r"(IsSet)
               : "r"(Vote), "l"(&W.Clock), "r"(Value), "l"(&Second),
                 "n"(HasSecond)
               : "memory");
  if (IsSet && isUsedUp(Value))
    setFlags(W.Place, NeedsCare);
  return IsSet;
}

/// Sets the warp's clock to `Value`, if all lanes are here together with the
/// same `Value`. Returns whether the clock was set.
DEVICE bool setClock(WarpState &W, uint32_t Value) {
  return setTogether<false>(W, Value, Value, W.Clock);
}

/// As setClock, at a barrier to which all lanes of the warp have come together:
/// also sets WarpState::Met, so all accesses of the warp at smaller clocks are
/// ordered before the later ones.
DEVICE bool setMet(WarpState &W, uint32_t Value) {
  return setTogether<true>(W, Value, Value, W.Met);
}

/// As setClock, behind a barrier of the block: sets the clock and
/// WarpState::Barrier to one value for all warps of the block.
DEVICE bool setBarrier(WarpState &W, uint32_t Value) {
  // A lane whose warp's clock is already larger contributes a value of its own,
  // so the lanes do not match and none of them sets the clock.
  const uint32_t Vote = loadNear(W.Clock) <= Value ? Value : ~lane();
  return setTogether<true>(W, Vote, Value, W.Barrier);
}

/// Advances the warp's clock by one: accesses until now get smaller clocks than
/// later ones, so a new epoch begins. Lanes that come here together share one
/// step. Returns the new clock.
DEVICE uint32_t step(const Self &Me) {
  WarpState &W = Me.warp();
  const uint32_t Now = loadNear(W.Clock) + 1;
  // Lanes that are not together raise the clock one by one, so that a lane that
  // overtakes the others finds it raised.
  if (!setClock(W, Now))
    raiseClock(W, Now);
  return Now;
}
/// As `step`, before this lane hands something on; notes the clock in
/// LaneStates::Given.
DEVICE uint32_t tick(const Self &Me) {
  const uint32_t Now = step(Me);
  Self::stateOf(Me.number(), Me.Lane).give(Now);
  return Now;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_CLOCK_H
