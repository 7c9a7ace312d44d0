// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One access, as a cell remembers it.
//
// An accessor is one access of a word: site, lane, warp, bytes, strength and
// clock in 64 bits. An accessor is read and written in one piece, so each
// accessor that a thread finds tells of one access that happened
// (docs/metadata-design.md, "Accessors and cells"). The pair of a warp number
// and its clock is the access's epoch.
#ifndef CRSAN_DEVICE_METADATA_ACCESSOR_H
#define CRSAN_DEVICE_METADATA_ACCESSOR_H

#include "metadata/Tables.h"

namespace crsan::device {

/// Which bytes of a word an access covers: all four, one, or a half. Three
/// bytes are reduced to the half that lies within them; the remaining byte is
/// not checked.
enum class Bytes : uint32_t { All = 0, First = 1, Low = 5, High = 6, None = 7 };

/// The bytes `From` to `To` - 1 of a word.
DEVICE Bytes bytesOf(uint32_t From, uint32_t To) {
  switch (To - From) {
  case 4:
    return Bytes::All;
  case 1:
    return Bytes(1 + From);
  case 2:
    return From == 0 ? Bytes::Low : From == 2 ? Bytes::High : Bytes(2);
  case 3:
    return From == 0 ? Bytes::Low : Bytes::High;
  default:
    return Bytes::None;
  }
}
/// A mask with one bit for each byte.
DEVICE uint32_t maskOf(Bytes B) {
  return 0x0c38421fu >> (4 * uint32_t(B)) & 15;
}

/// One access of a word, as the word's cell keeps it. The value 0 means no
/// access.
struct Accessor : AccessorLayout {
  uint64_t Bits;

  static constexpr uint32_t ExactClocks = 1u << (64 - ClockAt),
                            CachedClocks = 1u << (TagAt - ClockAt),
                            InFlightClocks = 1u << (InFlightAt - ClockAt);

  DEVICE explicit Accessor(uint64_t Bits) : Bits(Bits) {}
  DEVICE static Accessor make(uint32_t Site, uint32_t Lane, uint32_t Warp,
                              uint32_t Clock) {
    return Accessor(uint64_t(Clock) << ClockAt | uint64_t(Site) << SiteAt |
                    Warp << WarpAt | Lane << LaneAt);
  }
  DEVICE Accessor with(Bytes B) const {
    return Accessor(Bits | uint64_t(B) << BytesAt);
  }
  DEVICE Accessor several() const { return Accessor(Bits | Several); }
  DEVICE Accessor strong(bool IsWide) const {
    return Accessor(Bits | Strong | (IsWide ? WideOrLocked : 0));
  }
  /// The access of a copy that is in flight from now on. `IsBulk`: of a bulk
  /// copy.
  DEVICE Accessor inFlight(bool IsBulk) const {
    return Accessor((Bits & ~WideOrLocked) | InFlight |
                    (IsBulk ? WideOrLocked : 0));
  }
  DEVICE Accessor locked() const { return Accessor(Bits | WideOrLocked); }

  DEVICE bool isNobody() const { return Bits == 0; }
  DEVICE uint32_t site() const { return uint32_t(Bits >> SiteAt) & 0xffff; }
  DEVICE uint32_t lane() const { return Bits >> LaneAt & 31; }
  DEVICE uint32_t warp() const { return Bits >> WarpAt & (NumWarps - 1); }
  DEVICE Bytes bytes() const {
    return isInFlight() ? Bytes::All : Bytes(Bits >> BytesAt & 7);
  }
  DEVICE bool isSeveral() const { return Bits & Several; }
  DEVICE bool isStrong() const { return Bits & Strong; }
  DEVICE bool isWide() const { return isStrong() && (Bits & WideOrLocked); }
  DEVICE bool isLocked() const {
    return !isStrong() && !isInFlight() && (Bits & WideOrLocked);
  }
  DEVICE uint32_t clock() const { return uint32_t(Bits >> ClockAt); }

  /// An asynchronous copy. Whether the copying thread has waited for the copy
  /// is not known from the accessor alone (AsyncCopy.h), and the clock field is
  /// not the clock of an access.
  DEVICE bool isInFlight() const { return (Bits & BytesMask) == BytesMask; }
  /// Of a copy in flight: it is a bulk copy (BulkCopy.h).
  DEVICE bool isBulk() const { return isInFlight() && (Bits & WideOrLocked); }
  /// The clock of the access, or the clock at which a copy in flight was
  /// issued.
  DEVICE uint32_t made() const {
    return isInFlight() ? clock() & (InFlightClocks - 1) : clock();
  }
  /// The same accessor as a write at `Clock`.
  DEVICE Accessor landed(uint32_t Clock) const {
    constexpr uint64_t Others = (uint64_t(1) << ClockAt) - 1;
    const uint64_t Bulk = isStrong() ? 0 : WideOrLocked;
    return Accessor((Bits & Others & ~(InFlight | Bulk)) | uint64_t(Clock)
                                                               << ClockAt);
  }

  /// Whether `O` is by the same lane in the same clock interval: its warp has
  /// not synchronized between the two.
  DEVICE bool isSameMoment(Accessor O) const {
    return ((Bits ^ O.Bits) & WhoAndWhen) == 0;
  }
  /// Whether `O` differs by the lane only: the same access of one warp.
  DEVICE bool isSameButLane(Accessor O) const {
    return ((Bits ^ O.Bits) & SameButLane) == 0;
  }
};
static_assert(AccessorLayout::WarpAt + WarpBits == AccessorLayout::BytesAt);

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ACCESSOR_H
