// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The slow path of a sampled window.
#ifndef CRSAN_DEVICE_COLLIDER_SLOWPATH_H
#define CRSAN_DEVICE_COLLIDER_SLOWPATH_H

#include "collider/CopyWatch.h"
#include "collider/HostWatchpoint.h"
#include "collider/LaneConflicts.h"
#include "collider/LastingWatch.h"
#include "collider/ProductWatch.h"

namespace crsan::device {

/// Entry point. The kernel is about to free heap memory, or has just allocated
/// some. CUDA does not document malloc or free as fences, and on an H100 malloc
/// leaves lines in the L1 cache that other threads have written since; the
/// fence drops those lines.
ENTRY void __crsan_heap_fence() {
  if (__crsan_config.Flags & Enabled)
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/// Reads `Size` bytes (1, 2, 4 or 8) at `A`. A weak read is like the program's
/// own, so that a stale line of the L1 cache shows; a strong read passes every
/// cache. The reads are in assembly because an optimizer would merge the two.
template <bool Strong> DEVICE uint64_t readUnit(Address A, uint32_t Size) {
  uint16_t Short;
  uint32_t Word;
  uint64_t Long;
  switch (Size) {
  case 4:
    if (Strong)
      asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(Word) : "l"(A));
    else
      asm volatile("ld.u32 %0, [%1];" : "=r"(Word) : "l"(A));
    return Word;
  case 8:
    if (Strong)
      asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(Long) : "l"(A));
    else
      asm volatile("ld.u64 %0, [%1];" : "=l"(Long) : "l"(A));
    return Long;
  case 2:
    if (Strong)
      asm volatile("ld.relaxed.sys.u16 %0, [%1];" : "=h"(Short) : "l"(A));
    else
      asm volatile("ld.u16 %0, [%1];" : "=h"(Short) : "l"(A));
    return Short;
  default:
    if (Strong)
      asm volatile("ld.relaxed.sys.u8 %0, [%1];" : "=h"(Short) : "l"(A));
    else
      asm volatile("ld.u8 %0, [%1];" : "=h"(Short) : "l"(A));
    return Short;
  }
}

/// Reads 16 aligned bytes.
template <bool Strong> DEVICE void readPair(Address A, uint64_t (&Pair)[2]) {
  if (Strong)
    asm volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];"
                 : "=l"(Pair[0]), "=l"(Pair[1])
                 : "l"(A));
  else
    asm volatile("ld.v2.u64 {%0, %1}, [%2];"
                 : "=l"(Pair[0]), "=l"(Pair[1])
                 : "l"(A));
}

/// Whether `Size` bytes at `A` are a value of 1, 2, 4 or 8 aligned bytes.
DEVICE bool isUnit(Address A, uint32_t Size) {
  return Size <= 8 && Size != 0 && ((uint32_t(A) | Size) & (Size - 1)) == 0;
}

/// A step of the FNV-1a hash (SuperCollider 3.4 hashes bulk copies in the same
/// way).
DEVICE uint64_t addToHash(uint64_t Hash, uint64_t Value) {
  return (Hash ^ Value) * 0x100000001b3ull;
}

/// Returns the hash of `Size` bytes. The reads are strong, also those before
/// the wait: most such accesses are copies, which pass the L1 cache. Not
/// inlined: few checks need it.
HELPER uint64_t readHash(Address A, uint32_t Size) {
  const uint32_t Bits = uint32_t(A) | Size;
  uint64_t Hash = 0xcbf29ce484222325ull;
  uint32_t I = 0;
  // One thread may read many bytes: several of its reads are under way at once.
  constexpr uint32_t AtATime = 4;
  if ((Bits & 15) == 0) {
#pragma unroll 1
    for (; I + 16 * AtATime <= Size; I += 16 * AtATime) {
      uint64_t Pair[AtATime][2];
#pragma unroll
      for (uint32_t J = 0; J < AtATime; ++J)
        readPair<true>(A + I + 16 * J, Pair[J]);
#pragma unroll
      for (uint32_t J = 0; J < AtATime; ++J)
        Hash = addToHash(addToHash(Hash, Pair[J][0]), Pair[J][1]);
    }
  }
  const uint32_t Step = (Bits & 3) == 0 ? 4 : 1;
#pragma unroll 1
  for (; I < Size; I += Step)
    Hash = addToHash(Hash, Step == 4 ? readUnit<true>(A + I, 4)
                                     : readUnit<true>(A + I, 1));
  return Hash;
}

/// Reads a value of 1, 2, 4 or 8 aligned bytes; of other bytes, a hash.
template <bool Strong> DEVICE uint64_t read(Address A, uint32_t Size) {
  if (isUnit(A, Size))
    return readUnit<Strong>(A, Size);
  if (Size != 16 || (uint32_t(A) & 15) != 0)
    return readHash(A, Size);
  uint64_t Pair[2];
  readPair<Strong>(A, Pair);
  return addToHash(Pair[0], Pair[1]);
}

/// Tells other threads that watch the bytes of those of the accesses that are
/// in the mask `Checked` of this lane. Returns the first of the bytes that this
/// lane may watch itself, of access `Chosen`, or 0.
DEVICE Address tellAll(const Warp &W, Site *Sites, const Group &G,
                       uint32_t Checked, uint32_t Chosen, const Origin &From) {
  Address Mine = 0;
#pragma unroll 1
  for (uint32_t Todo = Checked; Todo; Todo &= Todo - 1) {
    const uint32_t I = __builtin_ctz(Todo);
    const Address Told =
        tellWatchers(Sites[I], Access::of(G, Sites, I), W.Random, From);
    if (I == Chosen)
      Mine = Told;
  }
  return Mine;
}

/// Waits, at least `Least` cycles, while each lane watches one of its accesses.
/// Before that, every lane looks for watchpoints of other threads and of the
/// host at the bytes of those of its `N` accesses that are in the mask
/// `Checked`. Lanes that wait here together do not see each other's
/// watchpoints; compareLanes judges these lanes.
DEVICE void watchAndSleep(const Warp &W, Site *Sites, const Group &G,
                          uint32_t N, uint32_t Checked, const Decision &Why,
                          uint32_t Least, const Origin &From) {
  Watched Mine{nullptr, 0, false, 0};
  const uint32_t Chosen = below(mix(W.Random + 5 + (lane() << 8)), N);
  if ((__crsan_config.Flags & Watch) && mayMeet(Why.Interval)) {
    if (const Address Begin = tellAll(W, Sites, G, Checked, Chosen, From)) {
      const Access A = Access::of(G, Sites, Chosen);
      Mine = watchedAt(Begin, A.At + A.Size - Begin, A.IsWrite, From);
    }
    meetHost(Sites, G, Checked);
  }
  const uint64_t Word = watch(Mine, From);
  delay(W, Checked, Least, /*Most=*/Why.Left);
  if (Site *Other = unwatch(Mine, Word))
    __crsan_race(&Sites[Chosen], Access::of(G, Sites, Chosen).At, Other->Id, 0,
                 uint64_t(1u << lane()) << 32 | uint32_t(RaceKind::Conflict));
}

/// The window is not checked. Each lane looks for watchpoints on its accesses,
/// and leaves lasting ones.
DEVICE void passBy(const Warp &W, Site *Sites, const Group &G, uint32_t N) {
  if (!(__crsan_config.Flags & Watch))
    return;
  uint32_t Checked = 0;
#pragma unroll 1
  for (uint32_t I = 0; I < N; ++I)
    Checked |= uint32_t(Access::of(G, Sites, I).isChecked(W)) << I;
  tellAll(W, Sites, G, Checked, /*Chosen=*/N, Origin::here(W.Barriers));
}

/// Whether warps may look for lasting watchpoints without a check, and once
/// more before a check ends.
DEVICE bool mayLook(const Site *Sites) {
  constexpr uint32_t Needed = Watch | Lasting;
  return __crsan_config.CyclesPerLookCycle &&
         (__crsan_config.Flags & Needed) == Needed &&
         (Sites->Flags & RacesAnyTime);
}

/// Writes `Size` bytes (1, 2, 4 or 8) at `A`, as weakly as the program does.
DEVICE void writeUnit(Address A, uint32_t Size, uint64_t Value) {
  switch (Size) {
  case 4:
    asm volatile("st.u32 [%0], %1;" ::"l"(A), "r"(uint32_t(Value)) : "memory");
    break;
  case 8:
    asm volatile("st.u64 [%0], %1;" ::"l"(A), "l"(Value) : "memory");
    break;
  case 2:
    asm volatile("st.u16 [%0], %1;" ::"l"(A), "h"(uint16_t(Value)) : "memory");
    break;
  default:
    asm volatile("st.u8 [%0], %1;" ::"l"(A), "h"(uint16_t(Value)) : "memory");
  }
}

/// Whether access `I` of this lane has bytes in common with another one of the
/// `N` accesses.
DEVICE bool overlapsAnother(const Group &G, const Site *Sites, uint32_t N,
                            uint32_t I) {
  const Access A = Access::of(G, Sites, I);
#pragma unroll 1
  for (uint32_t J = 0; J < N; ++J) {
    const Access Other = Access::of(G, Sites, J);
    if (J != I && A.At < Other.At + Other.Size && Other.At < A.At + A.Size)
      return true;
  }
  return false;
}

/// Writes garbage where one of the stores is about to write, so that a thread
/// that stores the same value meanwhile changes what is there (SuperCollider
/// 7.2). It is what the second read expects. Threads that do this to one
/// location write the same garbage.
DEVICE void writeGarbage(const Warp &W, const Site *Sites, Group &G, uint32_t N,
                         uint32_t Checked) {
  const uint32_t First = below(mix(W.Random + 7), N);
#pragma unroll 1
  for (uint32_t J = 0; J < N; ++J) {
    const uint32_t I = (First + J) % N;
    if (!(Sites[I].Flags & TakesGarbage) || !(Checked >> I & 1) ||
        overlapsAnother(G, Sites, N, I))
      continue;
    const Address A = Access::of(G, Sites, I).At;
    const uint32_t Size = Sites[I].Size;
    const uint64_t Mask = ~uint64_t(0) >> (64 - 8 * Size);
    const uint64_t Change = uint64_t(mix(uint32_t(A))) * 0x100000001ull | 1;
    G.Before[I] = (G.Before[I] ^ Change) & Mask;
    writeUnit(A, Size, G.Before[I]);
    return;
  }
}

/// The least cycles to wait after reads that have taken `Took` cycles. Reads of
/// managed memory may wait until a page has come from another device or from
/// the host. That processor needs as long to take the page back, and only then
/// can it change what was read.
DEVICE uint32_t leastWait(uint32_t Took) {
  constexpr uint32_t PageMove = 16384, MostDelays = 16;
  // A GPU's clock has about two cycles a nanosecond.
  const uint32_t Most = 2 * MostDelays * __crsan_config.DelayNs;
  if (Took < PageMove)
    return 0;
  return 2 * Took < Most ? 2 * Took : Most;
}

/// Entry point: the slow path of a window. Reads the locations of `N` accesses
/// (at most MaxGroupSize) that are about to happen, compares the lanes, waits,
/// and reads again; a difference is a race. `Sampling` is the window, `Sites`
/// and `G` its accesses; a window with more accesses has several groups, whose
/// number is in the upper bits of `Count` (GroupsAt). `Barriers` is
/// Warp::Barriers. The lanes that take the slow path together call together.
/// Returns how many windows of the same loop the caller lets pass before the
/// next check.
ENTRY uint32_t __crsan_check(struct Sampling *Sampling, Site *Sites, Group *G,
                             uint32_t Barriers, uint32_t Count) {
  if (!(__crsan_config.Flags & Enabled)) {
    Sampling->Interval = ~0u;
    return ~0u;
  }
  if (__crsan_config.Flags & Paused)
    return PausedSkip;
  Warp W = gather();
  W.Barriers = Barriers;
  const uint32_t N = Count & ((1u << GroupsAt) - 1);
  const bool Looks = mayLook(Sites);
  const Decision Mine = decide(W, Sampling, Count >> GroupsAt, Looks);
  if (!Mine.checks()) {
    if (Mine.What != Turn::Skip)
      passBy(W, Sites, *G, N);
    if (Mine.What == Turn::Look)
      chargeLook(Mine);
    return nextSkip(W, Mine.Interval);
  }
  uint32_t Checked = 0;
  const uint32_t Begin = uint32_t(cycleNow());
#pragma unroll 1
  for (uint32_t I = 0; I < N; ++I) {
    Access A = Access::of(*G, Sites, I);
    if (!A.isChecked(W))
      continue;
    Checked |= 1u << I;
    if (A.Size > MostBytes && Sites[I].Size == 0) {
      shorten(W, *G, A.Size, I);
      A = Access::of(*G, Sites, I);
    }
    G->Before[I] = read<false>(A.At, A.Size);
  }
  const uint32_t Least = leastWait(uint32_t(cycleNow()) - Begin);
  // Work that takes time belongs between the two reads. Work that brings lanes
  // together belongs before the wait.
  if (__crsan_config.Flags & IntraWarp)
    compareLanes(W, Sites, *G, N);
  if (__crsan_config.Flags & Garbage)
    writeGarbage(W, Sites, *G, N, Checked);
  const Origin From = Origin::here(W.Barriers);
  watchAndSleep(W, Sites, *G, N, Checked, Mine, Least, From);
#pragma unroll 1
  for (uint32_t Todo = Checked; Todo; Todo &= Todo - 1) {
    const uint32_t I = __builtin_ctz(Todo);
    const Access A = Access::of(*G, Sites, I);
    const uint64_t After = read<true>(A.At, A.Size);
    if (G->Before[I] != After)
      __crsan_race(&Sites[I], A.At, G->Before[I], After, 0);
    if (Looks)
      lookAgain(Sites[I], A, From);
  }
  charge(Mine);
  return nextSkip(W, Mine.Interval);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_SLOWPATH_H
