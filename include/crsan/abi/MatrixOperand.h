// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an operand of a warp group's matrix product lies in shared memory.
//
// wgmma.mma_async finds an operand by a matrix descriptor. The layouts are the
// canonical ones of the PTX ISA ("Asynchronous Warpgroup Level Matrix Shared
// Memory Layout"), in pieces of 16 bytes. A row is 32 bytes in the K dimension,
// whatever the type of the elements.
#ifndef CRSAN_ABI_MATRIXOPERAND_H
#define CRSAN_ABI_MATRIXOPERAND_H

#include "crsan/abi/BlockOrder.h"

namespace crsan::abi {

/// What an instruction says of an operand, in one word: the number of its rows
/// (M of the first operand, N of the second), and whether the elements of a
/// column, not of a row, are contiguous ("MN-major", elements of 16 bits).
inline constexpr uint32_t ByColumns = 1u << 16, RowsMask = ByColumns - 1;

/// An operand, by its descriptor and its shape.
struct MatrixOperand {
  uint64_t Descriptor;
  uint32_t Shape;

  static constexpr uint32_t PieceBytes = 16;
  /// Of an operand by columns: K, the number of its columns.
  static constexpr uint32_t Depth = 16;

  CRSAN_HOST_DEVICE constexpr uint32_t field(uint32_t At) const {
    return (uint32_t(Descriptor >> At) & 0x3fff) << 4;
  }
  CRSAN_HOST_DEVICE constexpr uint32_t start() const { return field(0); }
  CRSAN_HOST_DEVICE constexpr uint32_t leading() const { return field(16); }
  CRSAN_HOST_DEVICE constexpr uint32_t stride() const { return field(32); }
  CRSAN_HOST_DEVICE constexpr bool isByColumns() const {
    return Shape & ByColumns;
  }
  CRSAN_HOST_DEVICE constexpr uint32_t rows() const { return Shape & RowsMask; }

  /// How many pieces are side by side in a line of the swizzling pattern, which
  /// has eight lines: 1 (no swizzling), 2, 4 or 8.
  CRSAN_HOST_DEVICE constexpr uint32_t width() const {
    const uint32_t Mode = uint32_t(Descriptor >> 62);
    return Mode == 0 ? 1 : 16 >> Mode;
  }
  CRSAN_HOST_DEVICE constexpr uint32_t patternBytes() const {
    return 8 * width() * PieceBytes;
  }

  CRSAN_HOST_DEVICE constexpr uint32_t numPieces() const {
    return isByColumns() ? rows() / 8 * Depth : 2 * rows();
  }

  /// Whether piece() says where the operand lies. The ISA leaves the rest open
  /// or describes it in a way that is not followed: patterns that do not begin
  /// at a multiple of their size, and patterns that are used in part.
  CRSAN_HOST_DEVICE constexpr bool isKnown() const {
    if (Descriptor >> 49 & 7)
      return false;
    const uint32_t Width = width();
    if (Width == 1)
      return true;
    const uint32_t InPattern = patternBytes() - 1;
    if ((isByColumns() || rows() > 8) && (stride() & InPattern))
      return false;
    if (isByColumns())
      return !(start() & InPattern) && rows() / 8 % Width == 0 &&
             (rows() / 8 == Width || !(leading() & InPattern));
    // Both pieces of a row are in one line, which begins where the K dimension
    // has got to.
    const uint32_t InLine = start() & (Width * PieceBytes - 1);
    return (start() & InPattern) == InLine && !(InLine & PieceBytes);
  }

  /// The offset of a piece in the shared memory of its block.
  CRSAN_HOST_DEVICE constexpr uint32_t piece(uint32_t I) const {
    const uint32_t Width = width();
    uint32_t At = start();
    if (isByColumns()) {
      const uint32_t Column = I / Depth, K = I % Depth;
      At += K % 8 * Width * PieceBytes;
      At += Width == 1 ? Column * stride() + K / 8 * leading()
                       : Column % Width * PieceBytes +
                             Column / Width * leading() + K / 8 * stride();
    } else {
      const uint32_t Row = I / 2, K = I % 2;
      At += Row % 8 * Width * PieceBytes + Row / 8 * stride() +
            K * (Width == 1 ? leading() : PieceBytes);
    }
    // The place in a line is combined with bits 7 and up of the address itself.
    return At ^ (At >> 7 & (Width - 1)) << 4;
  }
};

/// A descriptor has 18 bits of an address: what lies further is not followed.
inline constexpr uint32_t OperandSpace = 1u << 18;

} // namespace crsan::abi

#endif // CRSAN_ABI_MATRIXOPERAND_H
