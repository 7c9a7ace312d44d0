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

/// An access of a group, of what its site and the group say.
struct Access {
  uint64_t SiteId;
  /// Addresses of shared memory have 32 bits, and wrap: the base alone may be
  /// in front of the memory, and the sum must not carry.
  Address At;
  uint64_t Size; ///< In bytes; 0: the lane does not make the access.
  bool IsWrite;
  Space MemorySpace;
  uint8_t Meets; ///< Site::Meets.
  uint8_t Flags; ///< Site::Flags.

  /// Access `I`. All of it is read at once: fences of any warp empty the L1
  /// cache, and each read that another one waits for takes as long as many
  /// instructions.
  DEVICE static Access of(const Group &G, const Site *Sites, uint32_t I) {
    const Site &S = Sites[I];
    const uint64_t Id = S.Id, Offset = S.Offset, Base = G.Base[I];
    uint64_t Rest;
    __builtin_memcpy(&Rest, &S.Size, sizeof(Rest));
    static_assert(offsetof(Site, Flags) == offsetof(Site, Size) + 7);
    Access A{Id,
             Base + Offset,
             uint32_t(Rest),
             AccessKind(uint8_t(Rest >> 32)) != AccessKind::Load,
             Space(uint8_t(Rest >> 40)),
             uint8_t(Rest >> 48),
             uint8_t(Rest >> 56)};
    if (A.MemorySpace == Space::Shared)
      asm("cvta.shared.u64 %0, %1;"
          : "=l"(A.At)
          : "l"(uint64_t(uint32_t(A.At))));
    if (A.Size == 0)
      A.Size = G.Length[I];
    return A;
  }

  /// Whether this lane checks the access: it makes the access, and that can
  /// race. A row of a matrix depends on what any lane of the warp has done
  /// before; that has been done if all lanes are here.
  DEVICE bool isChecked(const Warp &W) const {
    return (!(Flags & OfWarp) || W.Mask == ~0u) && Size != 0 &&
           (MemorySpace != Space::Generic || canRace(At));
  }
};

/// Of a long access, whose site has no size, the check looks at this many
/// bytes.
constexpr uint32_t MostBytes = 256;

/// Chooses the bytes of the access `I` that the check looks at, of more.
DEVICE void shorten(const Warp &W, Group &G, uint64_t Size, uint32_t I) {
  const uint32_t Skipped = uint32_t(Size - MostBytes) / 16 + 1;
  G.Base[I] += 16 * below(mix(W.Random + 6 + I), Skipped);
  G.Length[I] = MostBytes;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_WINDOW_H
