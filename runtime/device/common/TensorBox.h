// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The boxes of tensor copies.
#ifndef CRSAN_DEVICE_COMMON_TENSORBOX_H
#define CRSAN_DEVICE_COMMON_TENSORBOX_H

#include "common/Memory.h"
#include "common/RecordBuffer.h"
#include "crsan/abi/TensorMap.h"

namespace crsan::device {

/// Words `I` and `I` + 1 of the tensor map at `A`. A map in global memory may
/// have been changed by other threads, so the L1 cache is passed.
DEVICE void readMap(Address A, uint32_t I, bool IsGlobal, uint64_t (&Pair)[2]) {
  if (IsGlobal)
    asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
                 : "=l"(Pair[0]), "=l"(Pair[1])
                 : "l"(A + 8 * I)
                 : "memory");
  else
    asm volatile("ld.v2.u64 {%0, %1}, [%2];"
                 : "=l"(Pair[0]), "=l"(Pair[1])
                 : "l"(A + 8 * I)
                 : "memory");
}

/// Whether the tensor map at `A` has the value of `Known`.
DEVICE bool hasValue(Address A, bool IsGlobal, const TensorMap &Known) {
  bool IsEqual = true;
#pragma unroll 1
  for (uint32_t I = 0; I < 16 && IsEqual; I += 2) {
    uint64_t Pair[2];
    readMap(A, I, IsGlobal, Pair);
    IsEqual = Pair[0] == Known.Bits[I] && Pair[1] == Known.Bits[I + 1];
  }
  return IsEqual;
}

/// What the host knows of the tensor map at `A`; null: nothing.
DEVICE const TensorMap *findMap(Address A) {
  const auto *Table =
      reinterpret_cast<const TensorMap *>(__crsan_config.TensorMaps);
  if (!Table)
    return nullptr;
  const bool IsGlobal = canRace(A);
  uint64_t Hash = 0;
#pragma unroll 1
  for (uint32_t I = 0; I < 16; I += 2) {
    uint64_t Pair[2];
    readMap(A, I, IsGlobal, Pair);
    Hash = addToMapHash(addToMapHash(Hash, Pair[0]), Pair[1]);
  }
#pragma unroll 1
  for (uint32_t Probe = 0; Probe < MapProbes; ++Probe) {
    const TensorMap &Known = Table[mapIndex(Hash, Probe)];
    // Of an entry that is not complete, nothing else is read: it would stay in
    // the L1 cache.
    uint32_t IsComplete;
    asm volatile("ld.relaxed.sys.u32 %0, [%1];"
                 : "=r"(IsComplete)
                 : "l"(&Known.IsComplete)
                 : "memory");
    if (!IsComplete)
      return nullptr;
    if (hasValue(A, IsGlobal, Known))
      return &Known;
  }
  return nullptr;
}

/// The part of a box that lies within the tensor, in one dimension.
struct Extent {
  int64_t First; ///< Index in the tensor.
  uint32_t Count;
  bool IsWhole; ///< It is all of the box.

  /// The box begins at `At`.
  DEVICE static Extent of(const TensorMap &M, uint32_t Dimension, int32_t At) {
    if (Dimension >= M.Rank)
      return {0, 1, true};
    const int64_t Box = M.Box[Dimension], Size = int64_t(M.Sizes[Dimension]);
    const int64_t First = At < 0 ? 0 : At;
    const int64_t Behind = At + Box < Size ? At + Box : Size;
    const uint32_t Count = First < Behind ? uint32_t(Behind - First) : 0;
    return {First, Count, Count == Box};
  }
};

/// The box that a tensor copy of `Rank` dimensions copies.
struct TensorBox {
  const TensorMap *Map; ///< Null: not known.
  Extent E[5];

  DEVICE TensorBox(Address At, uint32_t Rank, const int32_t (&Coordinates)[5])
      : Map(findMap(At)) {
    if (Map && Map->Rank != Rank)
      Map = nullptr;
    if (!Map)
      return;
#pragma unroll
    for (uint32_t D = 0; D < 5; ++D)
      E[D] = Extent::of(*Map, D, Coordinates[D]);
  }
  /// Whether all of it lies within the tensor.
  DEVICE bool isWhole() const {
    return E[0].IsWhole && E[1].IsWhole && E[2].IsWhole && E[3].IsWhole &&
           E[4].IsWhole;
  }
  /// Bytes of the box in shared memory.
  DEVICE uint64_t bytes() const {
    uint64_t Bytes = Map->ElementBytes;
#pragma unroll 1
    for (uint32_t D = 0; D < Map->Rank; ++D)
      Bytes *= Map->Box[D];
    return Bytes;
  }
  /// Rows of the box within the tensor: elements with consecutive addresses.
  DEVICE uint32_t rows() const {
    return E[0].Count == 0 ? 0
                           : E[1].Count * E[2].Count * E[3].Count * E[4].Count;
  }
  DEVICE uint32_t rowBytes() const { return E[0].Count * Map->ElementBytes; }
  /// The address of a row.
  DEVICE Address row(uint32_t Number) const {
    Address A = Map->Base + uint64_t(E[0].First) * Map->ElementBytes;
#pragma unroll
    for (uint32_t D = 1; D < 5; ++D) {
      if (D < Map->Rank)
        A += (uint64_t(E[D].First) + Number % E[D].Count) * Map->Strides[D - 1];
      Number /= E[D].Count;
    }
    return A;
  }
};

/// Counts a tensor copy of which a side is not checked.
DEVICE void countUnknownBox() {
  asm volatile(
      "red.relaxed.gpu.add.u64 [%0], 1;" ::"l"(&counters().UnknownBoxes)
      : "memory");
}

/// Entry point. How many bytes of shared memory the box of a tensor copy has
/// that is about to begin; 0: not known. `Map` is the address of its tensor
/// map. `Rank`: its dimensions; 0: the copy is not made. `IsRead`: the box is
/// read there. Whether elements beyond the tensor are read, PTX does not say,
/// so of a box that has some nothing is known.
ENTRY uint64_t __crsan_box_bytes(uint64_t Map, uint32_t Rank, int32_t C0,
                                 int32_t C1, int32_t C2, int32_t C3, int32_t C4,
                                 uint32_t IsRead) {
  if (Rank == 0 || !(__crsan_config.Flags & Enabled))
    return 0;
  const TensorBox Box(Map, Rank, {C0, C1, C2, C3, C4});
  if (Box.Map && (!IsRead || Box.isWhole()))
    return Box.bytes();
  countUnknownBox();
  return 0;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COMMON_TENSORBOX_H
