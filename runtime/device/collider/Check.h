//===- Check.h - The check of a window -------------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_COLLIDER_CHECK_H
#define CRSAN_DEVICE_COLLIDER_CHECK_H

#include "collider/Sampling.h"

//===----------------------------------------------------------------------===//
// Entry points, called by instrumented code
//===----------------------------------------------------------------------===//

namespace {

/// Do lanes of this warp write one location (SuperCollider 3.3)? Lanes with the
/// same value differ from lanes without only in what the report says. Each
/// exchange is among the lanes that are together then and there, so that none
/// waits for another.
DEVICE void checkStore(Site *S, Address A, uint64_t Value) {
  const uint32_t Same = __nvvm_match_any_sync_i64(activeMask(), A);
  const uint32_t Here = activeMask();
  const uint32_t Equal = __nvvm_match_any_sync_i64(Here, Value);
  const uint32_t Distinct = Same & Here & ~Equal;
  const uint32_t Rest = Distinct ? Distinct : Same & ~(1u << lane());
  const uint64_t Theirs =
      shuffle(activeMask(), Value, Rest ? __builtin_ctz(Rest) : lane());
  if (Rest != 0 && lane() == uint32_t(__builtin_ctz(Same)) && canRace(A) &&
      (Distinct || !(__crsan_config.Flags & DistinctOnly)))
    __crsan_race(S, A, Value, Theirs,
                 uint64_t(Same) << 32 | (Distinct ? 0 : SameValue) << 8 |
                     uint32_t(RaceKind::IntraWarpLostUpdate));
}

} // namespace

/// A store of a value that its window's slow path did not know is about to
/// happen.
ENTRY void __crsan_store(Site *S, Address A, uint64_t Value) {
  if ((__crsan_config.Flags & (Enabled | IntraWarp)) == (Enabled | IntraWarp))
    checkStore(S, A, Value);
}

/// Memory is about to be freed, or has been allocated, in the kernel. CUDA does
/// not say that either fences, and on an H100 malloc leaves lines in L1 that
/// others have written since.
ENTRY void __crsan_heap_fence() {
  if (__crsan_config.Flags & Enabled)
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

namespace {

/// Weak reads are the program's own, so that a stale line in L1 shows; strong
/// ones pass every cache. In assembly, or an optimiser would merge the two.
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

/// A value of 1, 2, 4 or 8 bytes, or the FNV-1a hash of a run too long for a
/// register (SuperCollider 3.4 hashes bulk copies the same way), or of the
/// beginning of a very long one.
template <bool Strong> DEVICE uint64_t read(Address A, uint64_t Size) {
  if (Size <= 8 && Size != 0)
    return readUnit<Strong>(A, Size);
  const uint32_t Bytes = Size < 4096 ? Size : 4096;
  const uint32_t Step = ((A | Bytes) & 3) == 0 ? 4 : 1;
  uint64_t Hash = 0xcbf29ce484222325ull;
#pragma unroll 1
  for (uint32_t I = 0; I < Bytes; I += Step)
    Hash = (Hash ^ readUnit<Strong>(A + I, Step)) * 0x100000001b3ull;
  return Hash;
}

/// Whether a lane stores, by the first access, what another accesses by the
/// second. Nothing orders two instructions of one window in two lanes, whatever
/// the schedule; so this needs no luck (docs/soundness.md). Lanes that came
/// here from another site have accesses of other sizes, and are left alone.
DEVICE void checkLanes(const Warp &W, Site &Store, Address Stored, Site &Other,
                       Address Accessed) {
  uint32_t Writer = 32;
#pragma unroll 1
  for (uint32_t Left = W.Mask; Left; Left &= Left - 1) {
    const uint32_t From = __builtin_ctz(Left);
    const uint32_t Here = activeMask();
    const Address Theirs = shuffle(Here, Stored, From);
    const uint64_t TheirStore = shuffle(Here, Address(&Store), From);
    if (From != lane() && (Here >> From & 1) && TheirStore == Address(&Store) &&
        Theirs < Accessed + Other.Size && Accessed < Theirs + Store.Size)
      Writer = From;
  }
  if (Writer < 32 && canRace(Accessed))
    __crsan_race(&Other, Accessed, Store.Id, 0,
                 uint64_t(1u << lane() | 1u << Writer) << 32 |
                     uint32_t(RaceKind::IntraWarpConflict));
}

/// What a slow path passes on: access I of its group is at Base[I] plus its
/// site's offset, and Length[I] bytes long where the site has no size. Where it
/// has one, Length[I] is the value about to be stored, if the site HasValue.
struct Group {
  Address Base[MaxGroupSize];
  uint64_t Length[MaxGroupSize];
  uint64_t Before[MaxGroupSize]; ///< What was there first.
};

DEVICE Address addressOf(const Group &G, const Site *Sites, uint32_t I) {
  return G.Base[I] + Sites[I].Offset;
}
DEVICE uint64_t sizeOf(const Group &G, const Site *Sites, uint32_t I) {
  return Sites[I].Size ? Sites[I].Size : G.Length[I];
}

/// Sleeps; meanwhile one lane watches one of the accesses. Every lane looks for
/// the watchpoints of others first: lanes that sleep here together are not
/// taken for each other's race, which checkLanes judges.
DEVICE void watchAndSleep(const Warp &W, Site *Sites, const Group &G,
                          uint32_t N, uint32_t Interval) {
  Watched Mine{nullptr, 0, false};
  uint32_t Chosen = 0;
  // Where few are asleep, few meet.
  if ((__crsan_config.Flags & Watch) && Interval <= MaxWatchInterval) {
#pragma unroll 1
    for (uint32_t I = 0; I < N; ++I) {
      const Address A = addressOf(G, Sites, I), Size = sizeOf(G, Sites, I);
      if (Size == 0 || !canRace(A))
        continue;
      const bool IsWrite = Sites[I].Access == AccessKind::Store;
      tellWatcher(Sites[I], watchedAt(A, Size, IsWrite));
      if (Size > 8 - (A & 7)) {
        const uint32_t Next = 8 - (A & 7);
        tellWatcher(Sites[I], watchedAt(A + Next, Size - Next, IsWrite));
      }
    }
    // The lane and the access that are watched are anybody's.
    const uint32_t From = below(mix(W.Random + 4), 32);
    const uint32_t Behind = W.Mask >> From << From;
    Chosen = below(mix(W.Random + 5), N);
    const Address A = addressOf(G, Sites, Chosen);
    const Address Size = sizeOf(G, Sites, Chosen);
    if (lane() == uint32_t(__builtin_ctz(Behind ? Behind : W.Mask)) &&
        Size != 0 && canRace(A))
      Mine = watchedAt(A, Size, Sites[Chosen].Access == AccessKind::Store);
  }
  const uint64_t Word = watch(Mine);
  delay(W, N);
  if (Site *Other = unwatch(Mine, Word))
    __crsan_race(&Sites[Chosen], addressOf(G, Sites, Chosen), Other->Id, 0,
                 uint64_t(1u << lane()) << 32 | uint32_t(RaceKind::Conflict));
}

/// Lanes from other branches may have come here with these, where the assembler
/// made one call of two. All of them are about to access something and none is
/// before another, so whatever meets is a race.
DEVICE void checkBranches(const Warp &W, Site *Sites, const Group &G,
                          uint32_t N) {
  const uint64_t First = shuffle(activeMask(), Address(Sites), W.First);
  if (!__nvvm_vote_any_sync(activeMask(), First != Address(Sites)))
    return;
#pragma unroll 1
  for (uint32_t Left = W.Mask; Left; Left &= Left - 1) {
    const uint32_t From = __builtin_ctz(Left);
#pragma unroll 1
    for (uint32_t J = 0; J < MaxGroupSize; ++J) {
      const bool Has = J < N;
      const uint32_t Here = activeMask();
      auto *Other = reinterpret_cast<Site *>(
          shuffle(Here, Has ? Address(&Sites[J]) : 0, From));
      const Address Theirs =
          shuffle(Here, Has ? addressOf(G, Sites, J) : 0, From);
      if (!(Here >> From & 1) || !Other)
        break;
      // Of this lane's own branch: judged by checkLanes.
      if (Other == &Sites[J])
        continue;
#pragma unroll 1
      for (uint32_t I = 0; I < N; ++I) {
        const Address Mine = addressOf(G, Sites, I);
        if ((Sites[I].Access == AccessKind::Store ||
             Other->Access == AccessKind::Store) &&
            Sites[I].Size && Other->Size && Theirs < Mine + Sites[I].Size &&
            Mine < Theirs + Other->Size && canRace(Mine))
          __crsan_race(&Sites[I], Mine, Other->Id, 0,
                       uint64_t(1u << lane() | 1u << From) << 32 |
                           uint32_t(RaceKind::Conflict));
      }
    }
  }
}

DEVICE void compareLanes(const Warp &W, Site *Sites, const Group &G,
                         uint32_t N) {
#pragma unroll 1
  for (uint32_t I = 0; I < N; ++I) {
    const Address A = addressOf(G, Sites, I);
    if (Sites[I].HasValue)
      checkStore(&Sites[I], A, G.Length[I]);
#pragma unroll 1
    for (uint32_t Meets = Sites[I].Meets; Meets; Meets &= Meets - 1) {
      const uint32_t J = __builtin_ctz(Meets);
      checkLanes(W, Sites[I], A, Sites[J], addressOf(G, Sites, J));
    }
  }
  checkBranches(W, Sites, G, N);
}

} // namespace

/// A window's slow path: reads the locations of `N` accesses, at most
/// MaxGroupSize, that are about to happen, compares the lanes, sleeps, and
/// reads again. Returns how many windows of the same loop to let pass.
ENTRY uint32_t __crsan_check(struct Sampling *Sampling, Site *Sites, Group *G,
                             uint32_t N) {
  if (!(__crsan_config.Flags & Enabled)) {
    Sampling->Interval = ~0u;
    return ~0u;
  }
  const Warp W = gather();
#pragma unroll 1
  for (uint32_t I = 0; I < N; ++I) {
    const Address A = addressOf(*G, Sites, I);
    G->Before[I] = canRace(A) ? read<false>(A, sizeOf(*G, Sites, I)) : 0;
  }
  // Whatever takes time belongs between the reads; whatever brings the lanes
  // together, before they sleep.
  uint32_t Interval;
  if (account(W, Sampling, Interval)) {
    if (__crsan_config.Flags & IntraWarp)
      compareLanes(W, Sites, *G, N);
    watchAndSleep(W, Sites, *G, N, Interval);
  }
#pragma unroll 1
  for (uint32_t I = 0; I < N; ++I) {
    const Address A = addressOf(*G, Sites, I);
    if (!canRace(A))
      continue;
    const uint64_t After = read<true>(A, sizeOf(*G, Sites, I));
    if (G->Before[I] != After)
      __crsan_race(&Sites[I], A, G->Before[I], After, 0);
  }
  return nextSkip(W, Interval);
}

#endif // CRSAN_DEVICE_COLLIDER_CHECK_H
