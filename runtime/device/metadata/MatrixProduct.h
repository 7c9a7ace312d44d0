// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of warp groups.
//
// wgmma.mma_async reads its operands in shared memory at some time between its
// issue and its warp group's wait (wgmma.wait_group). The four warps issue one
// product together, in which parts of an operand are for all of them, and
// programs rely on it that once one of the warps has waited, the whole product
// is done. So the products of a warp group are an actor of their own, as bulk
// copies of a warp are (BulkCopy.h). The warps may come to an instruction at
// different times, but all come to the same ones. So each lane counts the
// groups that it commits, and the clock of a product is the number of its group
// above WarpState::Start of the group's first warp: all warps know that clock
// without having heard of each other.
#ifndef CRSAN_DEVICE_METADATA_MATRIXPRODUCT_H
#define CRSAN_DEVICE_METADATA_MATRIXPRODUCT_H

#include "crsan/abi/MatrixOperand.h"
#include "metadata/CellCheck.h"

namespace crsan::device {

/// The warps that issue matrix products together with this thread's warp: four
/// in a row, the first of which has an index in its block that four divides.
struct WarpGroup {
  uint32_t Place;  ///< The index of this thread's warp among them.
  uint32_t Number; ///< The number of the first.
  /// The first one's WarpState::Start.
  uint32_t Start;
  /// The first warp has not begun yet, as far as this thread can see, or its
  /// state is not its own.
  bool IsKnown;

  DEVICE explicit WarpGroup(const Self &Me) {
    const uint32_t Mine = Me.placeOf(Me.number());
    Place = Mine % 4;
    Number = (Me.number() - Place) & (NumWarps - 1);
    const WarpState &First = Self::stateOf(Number), &W = Me.warp();
    const uint32_t Alive = loadRelaxed(First.Alive);
    IsKnown = loadRelaxed(First.Grid) == W.Grid &&
              loadRelaxed(First.Block) == W.Block && (Alive & AliveMask) &&
              !(Alive & Mixed);
    Start = loadRelaxed(First.Start);
  }
};

/// Checks this lane's part of an operand that a product is about to read. Which
/// warp reads which part is not documented. Each checks the rows of a first
/// operand whose product it gets, and as many of a second one.
DEVICE void checkOperand(const Self &Me, AccessSite &S,
                         const MatrixOperand &Operand, const WarpGroup &Group,
                         uint32_t Issued) {
  const WarpState &W = Me.warp();
  const uint32_t Index = indexOf(S), Clock = loadNear(W.Clock);
  if (W.SharedCells == 0 || Index >= MaxSites || !Operand.isKnown() ||
      Issued + 1 >= Accessor::InFlightClocks)
    return countUnchecked(Me);
  const Check C{Me,
                S,
                {Me, loadNear(W.Barrier), loadNear(W.Floor)},
                Accessor::make(Index, Me.Lane, Group.Number, Issued),
                /*Writes=*/false,
                /*Remembers=*/true,
                /*IsInFlight=*/true,
                /*IsThorough=*/false,
                /*IsDrawn=*/false,
                /*OnlyReplaced=*/false,
                /*Replaced=*/Accessor(0)};
  const uint32_t Lanes = 4 * 32, Number = Operand.numPieces();
#pragma unroll 1
  for (uint32_t I = Group.Place * 32 + Me.Lane; I < Number; I += Lanes) {
    const uint32_t Offset = Operand.piece(I);
    if (Offset + MatrixOperand::PieceBytes > OperandSpace) {
      countUnchecked(Me);
      continue;
    }
    Address At = ownShared(Offset);
    const Address End = At + MatrixOperand::PieceBytes;
#pragma unroll 1
    while (At < End)
      At = checkWord(C, W, PageRef::none(), At, End, Clock, /*InShared=*/true);
  }
}

/// This lane waits for all groups of products of its warp group but the last
/// `Pending`.
DEVICE void awaitProducts(const Self &Me, uint32_t Pending) {
  const WarpGroup Group(Me);
  const uint32_t Committed = Me.thread().products();
  if (Committed <= Pending)
    return;
  raise(Me.known()[productEntry(Group.Number)],
        Group.IsKnown ? Group.Start + Committed - Pending : Everything);
  noteEnded(Me);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_MATRIXPRODUCT_H
