// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accesses of a window, and its delay.
#ifndef CRSAN_DEVICE_COLLIDER_WINDOW_H
#define CRSAN_DEVICE_COLLIDER_WINDOW_H

#include "collider/Sampling.h"

namespace crsan::device {

/// Waits for a random time that differs between warps, at least `Least` cycles
/// and less than `Most`, unless `Least` is more (0: only the options limit it),
/// and counts the checks of this lane, which are those in the mask `Checked`.
/// Lanes of one warp wait equally long, since they leave together
/// (docs/convergence.md).
DEVICE void delay(const Warp &W, uint32_t Checked, uint32_t Least = 0,
                  uint32_t Most = 0) {
  // A GPU's clock has about two cycles a nanosecond.
  uint32_t Longest = __crsan_config.DelayNs;
  if (Most && Most / 2 < Longest)
    Longest = Most / 2;
  const uint32_t Here = activeMask();
  Longest = broadcast(Here, Longest, __builtin_ctz(Here));
  Least = broadcast(Here, Least, __builtin_ctz(Here));
  uint32_t Ns = below(mix(W.Random + 3), Longest);
  Ns = 2 * Ns < Least ? Least / 2 : Ns;
  pause(2 * Ns);
  Counters::Shard &C = shardHere();
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

/// Address of access `I`. Addresses of shared memory have 32 bits, and wrap:
/// the base alone may be in front of the memory, and the sum must not carry.
DEVICE Address addressOf(const Group &G, const Site *Sites, uint32_t I) {
  Address A = G.Base[I] + Sites[I].Offset;
  if (Sites[I].MemorySpace == Space::Shared)
    asm("cvta.shared.u64 %0, %1;" : "=l"(A) : "l"(uint64_t(uint32_t(A))));
  return A;
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
constexpr uint32_t MostBytes = 256;

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
