// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sampling of windows, and their delays.
#ifndef CRSAN_DEVICE_COLLIDER_WINDOW_H
#define CRSAN_DEVICE_COLLIDER_WINDOW_H

#include "common/RecordBuffer.h"

namespace crsan::device {

/// While checks are paused (abi::Paused), a loop looks after so many iterations
/// whether they still are.
constexpr uint32_t PausedSkip = 63;

/// How many executions of a window pass between two checks, after `Executed`
/// checks. Every execution is checked up to the budget, and then ever fewer, so
/// that the checks of n executions grow with the cube root of n.
DEVICE uint32_t intervalAfter(uint32_t Executed) {
  const uint32_t Budget = __crsan_config.Budget;
  if (Budget == 0 || Executed < Budget)
    return 1;
  const uint64_t Excess = Executed / Budget;
  const uint64_t Interval = Excess * Excess * 2;
  return Interval < __crsan_config.MaxInterval ? uint32_t(Interval)
                                               : __crsan_config.MaxInterval;
}

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

/// Counts this execution and sets `Interval`, the interval from now on. Returns
/// false if the warp should skip the check: other warps have raised the
/// interval, and this warp came here by an older interval that its L1 cache had
/// kept.
DEVICE bool account(const Warp &W, struct Sampling *Sampling,
                    uint32_t &Interval) {
  // Lanes of the warp may have parted since: each part counts for itself.
  const uint32_t Here = activeMask(), First = __builtin_ctz(Here);
  uint32_t Go = 1;
  if (lane() == First) {
    const uint32_t Executed =
        __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&Sampling->Executed), 1);
    Interval = intervalAfter(Executed);
    uint32_t Used; // The interval that the fast path saw, perhaps from a stale
                   // line of L1.
    asm volatile("ld.u32 %0, [%1];" : "=r"(Used) : "l"(&Sampling->Interval));
    if (Interval > 1)
      *reinterpret_cast<volatile uint32_t *>(&Sampling->Interval) = Interval;
    if (Interval > 2 * Used + 2) {
      __nvvm_membar_gl(); // Drops the stale line.
      Go = below(mix(W.Random + 1), Interval) <= Used;
    }
  }
  Interval = broadcast(Here, Interval, First);
  return broadcast(Here, Go, First);
}

/// How many windows of a loop to let pass before the next check; Interval on
/// average.
DEVICE uint32_t nextSkip(const Warp &W, uint32_t Interval) {
  return Interval <= 1 ? 0 : below(mix(W.Random + 2), 2 * Interval - 1);
}

/// Waits for a random time that differs between warps, and counts the checks
/// of this lane, which are those in the mask `Checked`. Lanes of one warp wait
/// equally long, since they leave together (docs/convergence.md).
DEVICE void delay(const Warp &W, uint32_t Checked) {
  const uint32_t Ns = below(mix(W.Random + 3), __crsan_config.DelayNs);
  pause(2 * Ns); // A GPU's clock has about two cycles a nanosecond.
  uint32_t Sm;
  asm("mov.u32 %0, %%smid;" : "=r"(Sm));
  Counters::Shard &C = counters().Shards[Sm % CounterShards];
  auto Add = [](uint64_t &To, uint64_t What) {
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(&To),
                 "l"(What)
                 : "memory");
  };
  Add(C.Checks, __builtin_popcount(Checked));
  if (lane() == uint32_t(__builtin_ctz(activeMask()))) {
    Add(C.Windows, 1);
    Add(C.DelayNs, Ns);
  }
}

/// The accesses of one slow path. The address of access I is Base[I] plus the
/// offset of its site. If the site has no size, Length[I] is the size in bytes
/// (0: the access is not made); if the site has one and HasValue is set,
/// Length[I] is the value about to be stored.
struct Group {
  Address Base[MaxGroupSize];
  uint64_t Length[MaxGroupSize];
  uint64_t
      Before[MaxGroupSize]; ///< Value or hash that the first read returned.
};

/// Address of access `I`.
DEVICE Address addressOf(const Group &G, const Site *Sites, uint32_t I) {
  return G.Base[I] + Sites[I].Offset;
}
/// Size of access `I` in bytes.
DEVICE uint64_t sizeOf(const Group &G, const Site *Sites, uint32_t I) {
  return Sites[I].Size ? Sites[I].Size : G.Length[I];
}

/// A mask of those of the `N` accesses that this lane checks: those that it
/// makes, and that can race. A row of a matrix depends on what any lane of the
/// warp has done before; that has been done if all lanes are here.
DEVICE uint32_t checkedOf(const Warp &W, const Group &G, const Site *Sites,
                          uint32_t N) {
  uint32_t Checked = 0;
#pragma unroll 1
  for (uint32_t I = 0; I < N; ++I)
    Checked |=
        uint32_t((!(Sites[I].Flags & OfWarp) || W.Mask == ~0u) &&
                 sizeOf(G, Sites, I) != 0 && canRace(addressOf(G, Sites, I)))
        << I;
  return Checked;
}

/// Of a long access, the check looks at this many bytes.
constexpr uint32_t MostBytes = 4096;

/// Chooses the bytes of the long access `I` that the check looks at.
DEVICE void shorten(const Warp &W, Group &G, const Site *Sites, uint32_t I) {
  if (Sites[I].Size || G.Length[I] <= MostBytes)
    return;
  const uint32_t Skipped = uint32_t(G.Length[I] - MostBytes) / 16 + 1;
  G.Base[I] += 16 * below(mix(W.Random + 6 + I), Skipped);
  G.Length[I] = MostBytes;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_WINDOW_H
