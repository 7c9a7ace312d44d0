// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulated GPU's encoding of a CUtensorMap.
#ifndef CRSAN_SIM_TENSORMAP_H
#define CRSAN_SIM_TENSORMAP_H

#include "PTX/AST.h"

#include <array>
#include <cstdint>

namespace crsan::sim {

/// A tensor and the box of it that a copy copies: what a CUtensorMap of the
/// simulated GPU begins with. Dimension 0 is the innermost.
struct TensorMap {
  static constexpr unsigned MaxRank = 5;
  static constexpr uint64_t TheMark = 0x70616d6e65734352;

  uint64_t Mark = TheMark; ///< Anything else is no tensor map.
  uint64_t Base = 0;
  std::array<uint64_t, MaxRank> Sizes{};   ///< In elements.
  std::array<uint64_t, MaxRank> Strides{}; ///< In bytes; [0]: of an element.
  std::array<uint32_t, MaxRank> Box{};     ///< In elements.
  uint8_t Rank = 0;
  ptx::ScalarType Type = ptx::ScalarType::None;
  /// Bytes of shared memory within which chunks of 16 bytes change places, or
  /// 0: a row of the box.
  uint8_t Swizzle = 0;

  uint32_t elementBytes() const { return uint32_t(Strides[0]); }
  uint32_t rowBytes() const { return Box[0] * elementBytes(); }
  /// Where a byte of shared memory goes.
  uint64_t swizzled(uint64_t Address) const {
    const uint64_t Mask = Swizzle ? Swizzle / 16 - 1 : 0;
    return Address ^ (Address >> 7 & Mask) << 4;
  }
};
static_assert(sizeof(TensorMap) <= 128);

} // namespace crsan::sim

#endif // CRSAN_SIM_TENSORMAP_H
