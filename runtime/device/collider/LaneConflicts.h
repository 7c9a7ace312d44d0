// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conflicts between lanes of a warp.
#ifndef CRSAN_DEVICE_COLLIDER_LANECONFLICTS_H
#define CRSAN_DEVICE_COLLIDER_LANECONFLICTS_H

#include "collider/Race.h"
#include "collider/Window.h"

namespace crsan::device {

/// Looks for lanes of this warp that store to one location by the same
/// instruction (SuperCollider 3.3). Called by the lanes that execute the store
/// at site `S`; lanes may part at any time, so each exchange between lanes
/// takes a fresh mask of the lanes that are active at that moment, and no lane
/// waits for another. `A` is the address of this lane's store and `Value` the
/// value, as 64 bits. Lanes that store equal values are reported like lanes
/// that store different ones, with the flag SameValue, unless the user asks for
/// distinct values only.
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

/// Entry point. A store of `Value` to `A` at site `S` is about to happen, and
/// the slow path of its window did not know the value. Each lane calls for
/// itself.
ENTRY void __crsan_store(Site *S, Address A, uint64_t Value) {
  if ((__crsan_config.Flags & (Enabled | IntraWarp)) == (Enabled | IntraWarp))
    checkStore(S, A, Value);
}

/// The stores of a warp's lanes at one site, if their addresses are an
/// arithmetic progression: then the lanes that store to given bytes are
/// calculated, and need not be compared one by one.
class EvenStores {
public:
  /// `Here`: the lanes that call together. `Store` and `Stored` are the site
  /// and the address of this lane's store, of `Size` bytes; 0: it stores
  /// nothing.
  DEVICE EvenStores(uint32_t Here, const Site &Store, Address Stored,
                    uint32_t Size)
      : Storing(__nvvm_vote_ballot_sync(Here, Size != 0)) {
    // The exchanges share one mask, since no branch between them parts lanes.
    FirstLane = __builtin_ctz(Storing ? Storing : Here);
    const uint32_t Others = Storing & (Storing - 1);
    const uint32_t Second = Others ? __builtin_ctz(Others) : FirstLane;
    Begin = shuffle(Here, Stored, FirstLane);
    const Address Next = shuffle(Here, Stored, Second),
                  Of = shuffle(Here, Address(&Store), FirstLane);
    Bytes = broadcast(Here, Size, FirstLane);
    const int64_t Distance = int64_t(Next - Begin);
    const int32_t Lanes = Second - FirstLane;
    Step = int32_t(Distance);
    if (Lanes > 1)
      Step /= Lanes;
    const bool IsInRow =
        (Size == 0) |
        ((Size == Bytes) &
         (Stored - Begin == Address(Step * int32_t(lane() - FirstLane))));
    AreEven = __nvvm_vote_all_sync(
        Here, IsInRow & (Of == Address(&Store)) & (Bytes < MostBytes) &
                  (Distance < MostBytes) & (Distance > -MostBytes));
  }

  /// Whether it is sure that no two lanes store to one address.
  DEVICE bool areApart() const {
    return (Storing & (Storing - 1)) == 0 || (AreEven && Step != 0);
  }

  /// A mask of the lanes that store to some of the `Size` bytes at `A`.
  DEVICE uint32_t storingTo(Address A, uint32_t Size) const {
    if (Size == 0)
      return 0;
    const int64_t Offset = int64_t(A - Begin);
    if (Step == 0)
      return Offset < int64_t(Bytes) && Offset + Size > 0 ? Storing : 0;
    // The stores in the order of their addresses: the I-th one of 32 begins
    // I * By bytes from the lowest. First and Last are the first byte of the
    // access, and the last, counted from there.
    const int64_t By = Step < 0 ? -Step : Step, Highest = 31 * By,
                  First = Step < 0 ? Offset + Highest : Offset,
                  Last = First + Size - 1;
    if (Last < 0 || First >= Highest + Bytes)
      return 0;
    const uint32_t Least =
                       First < Bytes ? 0 : steps(uint32_t(First - Bytes)) + 1,
                   Most = Last >= Highest ? 31 : steps(uint32_t(Last));
    if (Least > Most)
      return 0;
    const uint32_t Row = ~0u >> (31 - (Most - Least)) << Least;
    return (Step < 0 ? __builtin_bitreverse32(Row) : Row) << FirstLane &
           Storing;
  }

  /// Whether storingTo knows.
  bool AreEven;

private:
  static constexpr int64_t MostBytes = 1 << 24;

  /// How many steps so many bytes are, rounded down. Mostly a step is 4 or 8
  /// bytes, and a division takes long.
  DEVICE uint32_t steps(uint32_t Distance) const {
    const uint32_t By = uint32_t(Step < 0 ? -Step : Step);
    return By & (By - 1) ? Distance / By : Distance >> __builtin_ctz(By);
  }

  uint32_t Storing;   ///< The lanes that store.
  uint32_t FirstLane; ///< The first of them.
  Address Begin;      ///< Where it stores.
  int64_t Bytes;      ///< The size of each store.
  int64_t Step;       ///< From one lane to the next.
};

/// A lane, if there is one, whose store overlaps this lane's access: the
/// parameters are those of checkLanes.
DEVICE uint32_t findWriter(const Warp &W, const EvenStores &Stores, Site &Store,
                           Address Stored, uint32_t StoreSize, Address Accessed,
                           uint32_t Size) {
  constexpr uint32_t None = 32;
  if (Stores.AreEven) {
    const uint32_t Writers = Stores.storingTo(Accessed, Size) & ~(1u << lane());
    return Writers ? 31 - __builtin_clz(Writers) : None;
  }
  uint32_t Writer = None;
#pragma unroll 1
  for (uint32_t Left = W.Mask; Left; Left &= Left - 1) {
    const uint32_t From = __builtin_ctz(Left);
    const uint32_t Here = activeMask();
    const Address Theirs = shuffle(Here, Stored, From);
    const uint64_t TheirStore =
        shuffle(Here, StoreSize ? Address(&Store) : 0, From);
    const uint32_t TheirSize = broadcast(Here, StoreSize, From);
    if (From != lane() && (Here >> From & 1) && TheirStore == Address(&Store) &&
        Size != 0 && Theirs < Accessed + Size && Accessed < Theirs + TheirSize)
      Writer = From;
  }
  return Writer;
}

/// Looks for another lane whose store at site `Store` overlaps this lane's
/// access at site `Other`. `Stores` are the stores of all lanes there. `Stored`
/// and `Accessed` are this lane's addresses at the two sites, and `StoreSize`
/// and `Size` the bytes; 0: the lane does not come there. Nothing orders two
/// instructions of one window in two lanes, whatever the schedule, so this
/// check does not depend on timing (docs/soundness.md). Lanes that came from
/// another call site have other sites and other sizes; those lanes are ignored
/// here and left to checkBranches.
DEVICE void checkLanes(const Warp &W, const EvenStores &Stores, Site &Store,
                       Address Stored, uint32_t StoreSize, Site &Other,
                       Address Accessed, uint32_t Size) {
  const uint32_t Writer =
      findWriter(W, Stores, Store, Stored, StoreSize, Accessed, Size);
  if (Writer < 32 && canRace(Accessed))
    __crsan_race(&Other, Accessed, Store.Id, 0,
                 uint64_t(1u << lane() | 1u << Writer) << 32 |
                     uint32_t(RaceKind::IntraWarpConflict));
}

/// Looks for conflicts with lanes that came from another branch: the assembler
/// may have merged two calls into one. All lanes here are about to access
/// memory and no access is ordered before another, so each overlap with a store
/// is a race. `Sites` and `G` describe this lane's `N` accesses.
DEVICE void checkBranches(const Warp &W, Site *Sites, const Group &G,
                          uint32_t N) {
  const uint32_t All = activeMask();
  const uint64_t First = shuffle(All, Address(Sites), __builtin_ctz(All));
  if (!__nvvm_vote_any_sync(All, First != Address(Sites)))
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
          shuffle(Here, Has ? Access::of(G, Sites, J).At : 0, From);
      if (!(Here >> From & 1) || !Other)
        break;
      // This lane is of the same branch: checkLanes has compared these two.
      if (Other == &Sites[J])
        continue;
#pragma unroll 1
      for (uint32_t I = 0; I < N; ++I) {
        const Address Mine = Access::of(G, Sites, I).At;
        if ((Sites[I].Access != AccessKind::Load ||
             Other->Access != AccessKind::Load) &&
            Sites[I].Size && Other->Size && Theirs < Mine + Sites[I].Size &&
            Mine < Theirs + Other->Size && canRace(Mine))
          __crsan_race(&Sites[I], Mine, Other->Id, 0,
                       uint64_t(1u << lane() | 1u << From) << 32 |
                           uint32_t(RaceKind::Conflict));
      }
    }
  }
}

/// Compares the `N` accesses of each lane with those of the other active lanes:
/// stores of one instruction, instructions of one window, and windows of
/// different branches.
DEVICE void compareLanes(const Warp &W, Site *Sites, const Group &G,
                         uint32_t N) {
#pragma unroll 1
  for (uint32_t I = 0; I < N; ++I) {
    const Access A = Access::of(G, Sites, I);
    const bool KnowsValue = A.Flags & HasValue;
    if (!KnowsValue && A.Meets == 0)
      continue;
    const uint32_t Size = uint32_t(A.Size);
    const EvenStores Stores(activeMask(), Sites[I], A.At, Size);
    if (KnowsValue && !Stores.areApart())
      checkStore(&Sites[I], A.At, G.Length[I]);
#pragma unroll 1
    for (uint32_t Meets = A.Meets; Meets; Meets &= Meets - 1) {
      const uint32_t J = __builtin_ctz(Meets);
      const Access Other = Access::of(G, Sites, J);
      checkLanes(W, Stores, Sites[I], A.At, Size, Sites[J], Other.At,
                 uint32_t(Other.Size));
    }
  }
  checkBranches(W, Sites, G, N);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_LANECONFLICTS_H
