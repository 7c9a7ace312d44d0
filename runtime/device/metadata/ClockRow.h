// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of clocks of other warps.
#ifndef CRSAN_DEVICE_METADATA_CLOCKROW_H
#define CRSAN_DEVICE_METADATA_CLOCKROW_H

#include "metadata/SyncCell.h"

namespace crsan::device {

/// The largest clock of `Warp` (or of a warp with the same entry) that was
/// released beyond a block.
DEVICE uint32_t knownToAnybody(uint32_t Warp) {
  uint32_t Clocks[NumAnyWide], Largest = 0;
#pragma unroll
  for (uint32_t I = 0; I < NumAnyWide; ++I)
    Clocks[I] = loadRelaxed(SyncCells::at(I).Known[knownEntry(Warp)]);
#pragma unroll
  for (uint32_t I = 0; I < NumAnyWide; ++I)
    Largest = Clocks[I] > Largest ? Clocks[I] : Largest;
  return Largest;
}

/// A row of clocks, in registers. All loads are issued before the first is
/// used.
template <uint32_t Number> struct Row {
  static constexpr uint32_t Entries = Number;
  uint32_t Of[Entries];
  DEVICE explicit Row(const uint32_t *From) {
#pragma unroll
    for (uint32_t I = 0; I < Entries; I += 4)
      asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(Of[I]), "=r"(Of[I + 1]), "=r"(Of[I + 2]),
                     "=r"(Of[I + 3])
                   : "l"(From + I)
                   : "memory");
  }
};
/// Half of a row of known clocks. A whole row would need too many registers.
using HalfRow = Row<KnownEntries / 2>;
/// Four clocks that this warp knows, from the L1 cache. All that this thread
/// must hand on happens before this load, so the cache has it if any copy does.
struct NearClocks {
  uint32_t Of[4];
  DEVICE explicit NearClocks(const uint32_t *From) {
    asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(Of[0]), "=r"(Of[1]), "=r"(Of[2]), "=r"(Of[3])
                 : "l"(From)
                 : "memory");
  }
};

/// The row of a warp that knows of no other warp.
__attribute__((device)) uint32_t NoClocks[KnownEntries];

/// Raises four clocks of a row to `Want`. `Has` are the values that the row had
/// a moment ago.
DEVICE void raiseTo(uint32_t *To, const uint32_t *Has, const uint32_t *Want) {
  // One statement with predicates, since branches around each instruction would
  // have to be joined again.
  asm volatile("{ .reg .pred p, q, r, s; setp.gt.u32 p, %5, %1; "
               "setp.gt.u32 q, %6, %2; setp.gt.u32 r, %7, %3; "
               "setp.gt.u32 s, %8, %4; "
               "@p red.relaxed.gpu.max.u32 [%0], %5; "
               "@q red.relaxed.gpu.max.u32 [%0+4], %6; "
               "@r red.relaxed.gpu.max.u32 [%0+8], %7; "
               "@s red.relaxed.gpu.max.u32 [%0+12], %8; }" ::"l"(To),
               "r"(Has[0]), "r"(Has[1]), "r"(Has[2]), "r"(Has[3]), "r"(Want[0]),
               "r"(Want[1]), "r"(Want[2]), "r"(Want[3])
               : "memory");
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_CLOCKROW_H
