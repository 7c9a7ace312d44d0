// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the checks that are inlined (InLine.h) know of their warp.
//
// Clocks are compared as the upper half of an accessor holds them, which is why
// a Snapshot keeps them shifted.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_INLINEWARP_H
#define CRSAN_DEVICE_METADATA_ENTRY_INLINEWARP_H

#include "metadata/HappensBefore.h"
#include "metadata/Meeting.h"
#include "metadata/entry/Context.h"

#define INLINE_ENTRY extern "C" __attribute__((device, always_inline, used))

namespace crsan::device {

constexpr unsigned ClockShift = AccessorLayout::ClockAt - 32;

/// In assembly, or LLVM would make operations of 64 bits of what is done with a
/// half.
DEVICE uint32_t lowHalf(uint64_t A) {
  uint32_t Low;
  asm("{ .reg .b32 t; mov.b64 {%0, t}, %1; }" : "=r"(Low) : "l"(A));
  return Low;
}
DEVICE uint32_t highHalf(uint64_t A) {
  uint32_t High;
  asm("{ .reg .b32 t; mov.b64 {t, %0}, %1; }" : "=r"(High) : "l"(A));
  return High;
}

/// As loadNear(), of an address that is known to be one of global memory.
DEVICE uint32_t loadGlobal(uint64_t At) {
  uint32_t Value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(Value) : "l"(At) : "memory");
  return Value;
}

/// What the checks of a function know of their warp between two
/// synchronisations.
struct Snapshot {
  uint64_t Mine;  ///< An accessor: this thread, its clock, the first site.
  uint32_t Place; ///< WarpState::Place; NeedsCare if the sites have no index.
  uint32_t Barrier, Floor, Met; ///< As WarpState's, shifted by ClockShift.
};

DEVICE Snapshot snapshotOf(uint64_t State, uint32_t Clock, uint32_t Barrier,
                           uint32_t Floor, uint32_t Place, uint32_t Met,
                           uint32_t FirstSite, uint32_t Shape) {
  const uint32_t Lane = __nvvm_read_ptx_sreg_laneid();
  uint32_t Who = PlaceOf{Place}.warp() << AccessorLayout::WarpAt | Lane;
  if (Shape & ShapeLocks)
    Who |= (loadGlobal(State + offsetof(WarpState, LockedLanes)) >> Lane & 1)
           << __builtin_ctzll(AccessorLayout::WideOrLocked);
  // The function's sites are numbered from a multiple of a power of two, so
  // that a site's number is added by an OR.
  return {uint64_t(FirstSite) << AccessorLayout::SiteAt |
              uint64_t(Clock << ClockShift) << 32 | Who,
          Place | (FirstSite & NeedsCare), Barrier << ClockShift,
          Floor << ClockShift, Met << ClockShift};
}

/// Whether an accessor is of this block.
DEVICE bool isInBlock(uint32_t Place, uint32_t Low) {
  static_assert(AccessorLayout::LaneAt == 0 && AccessorLayout::WarpAt == 5);
  const uint32_t First = Place << AccessorLayout::WarpAt;
  const uint32_t Number =
      Place >> (16 - AccessorLayout::WarpAt) & 63 << AccessorLayout::WarpAt;
  return ((Low - First) & uint32_t(AccessorLayout::Who)) < Number;
}

/// The bits of an accessor in which those of other blocks differ from this
/// block's; if there are no such bits, those in which other warps differ.
DEVICE uint32_t otherBlockBits(uint32_t Place) {
  const uint32_t First = Place & (NumWarps - 1), Number = Place >> 16 & 63;
  const uint32_t Below = Number - 1;
  const uint32_t InBlock = ((First | Number) & Below) == 0 ? Below : 0;
  return ~InBlock << AccessorLayout::WarpAt & uint32_t(AccessorLayout::Who);
}

/// Entry point. Of the warp whose state is at `State`, now. A call, since it
/// stands beside calls that take longer.
HOT_ENTRY Snapshot __crsan_md_snapshot(uint64_t State, uint32_t FirstSite,
                                       uint32_t Shape) {
  static_assert(
      offsetof(WarpState, Clock) == 0 && offsetof(WarpState, Barrier) == 4 &&
      offsetof(WarpState, Floor) == 8 && offsetof(WarpState, Place) == 12);
  uint32_t Clock, Barrier, Floor, Place, Met = 0;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(Clock), "=r"(Barrier), "=r"(Floor), "=r"(Place)
               : "l"(State)
               : "memory");
  if (Shape & ShapeMeetings)
    Met = loadGlobal(State + offsetof(WarpState, Met));
  return snapshotOf(State, Clock, Barrier, Floor, Place, Met, FirstSite, Shape);
}

} // namespace crsan::device

/// At a kernel's head: of what __crsan_md_enter has returned.
INLINE_ENTRY crsan::device::Snapshot
__crsan_in_first_snapshot(uint64_t State, uint32_t Clock, uint32_t Barrier,
                          uint32_t Floor, uint32_t Place, uint32_t FirstSite,
                          uint32_t Shape) {
  using namespace crsan::device;
  return snapshotOf(State, Clock, Barrier, Floor, Place, 0, FirstSite, Shape);
}

/// In front of a barrier of all threads of the block: whether this warp must
/// tell the runtime of it. The barrier combines the answers of all warps. If no
/// warp must, all of them have done nothing but such barriers since the last
/// one, and have the clock that it gave them, so that all know the next one.
/// Only whole warps go on together. `IsAligned`: all lanes have to meet there
/// anyway; if they have parted, they meet before they are counted.
INLINE_ENTRY bool __crsan_in_must_agree(uint64_t Mine, uint32_t Place,
                                        uint32_t Barrier, uint32_t IsAligned) {
  using namespace crsan::device;
  const uint32_t Clock = highHalf(Mine) & ~0u << ClockShift;
  constexpr uint32_t Last = ((1u << (64 - AccessorLayout::ClockAt)) - 4)
                            << ClockShift;
  uint32_t Here;
  if (IsAligned)
    asm volatile("bar.warp.sync 0xffffffff; activemask.b32 %0;" : "=r"(Here));
  else
    asm volatile("activemask.b32 %0;" : "=r"(Here));
  const bool Tells =
      (Place & (NeedsCare | HasFresh)) != 0 && !(Place & Stopped);
  return bool((Clock != Barrier) | (Clock > Last) | (Here != ~0u) | Tells);
}

/// In front of such a barrier, if it is the one of all __syncthreads() whose
/// site has the number `Number`: notes that this warp comes to it in this
/// iteration, unless the warp must tell the runtime, which does the same.
INLINE_ENTRY void __crsan_in_note_meeting(uint64_t Mine, uint32_t Place,
                                          uint32_t Number, uint32_t Iteration,
                                          bool MustAgree) {
  using namespace crsan::device;
  const uint64_t Here = Mine | uint64_t(Number) << AccessorLayout::SiteAt |
                        iterationBits(Iteration);
  uint64_t *At =
      &meetingAfter(PlaceOf{Place}.firstWarp(), Accessor(Mine).clock());
  // All lanes write to one place; one of them stays.
  if (!MustAgree)
    asm volatile("st.global.u64 [%0], %1;" ::"l"(At), "l"(Here) : "memory");
}
/// Behind it, if no warp must tell: the accessor of a thread that has come to
/// another barrier, or in another iteration, or 0.
INLINE_ENTRY uint64_t __crsan_in_other_meeting(uint64_t Mine, uint32_t Place,
                                               uint32_t Number,
                                               uint32_t Iteration) {
  using namespace crsan::device;
  const uint64_t Here = Mine | uint64_t(Number) << AccessorLayout::SiteAt |
                        iterationBits(Iteration);
  uint64_t Found;
  asm volatile(
      "ld.global.u64 %0, [%1];"
      : "=l"(Found)
      : "l"(&meetingAfter(PlaceOf{Place}.firstWarp(), Accessor(Mine).clock()))
      : "memory");
  return areApart(Found, Here) ? Found : 0;
}

/// Behind such a barrier, of which no warp must tell: the next clock, shifted.
INLINE_ENTRY uint32_t __crsan_in_next_clock(uint64_t State, uint64_t Mine) {
  using namespace crsan::device;
  const uint32_t Now =
      (highHalf(Mine) & ~0u << ClockShift) + (1u << ClockShift);
  // All lanes store it before any goes on: the clock never falls.
  asm volatile(
      "st.global.v2.u32 [%0], {%1, %1}; bar.warp.sync 0xffffffff;" ::"l"(State),
      "r"(Now >> ClockShift)
      : "memory");
  return Now;
}

#endif // CRSAN_DEVICE_METADATA_ENTRY_INLINEWARP_H
