// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps that the host knows of.
//
// A tensor map is an opaque value of 128 bytes that the driver makes. A kernel
// gives it to tensor copies (cp.async.bulk.tensor). What the value means, the
// host learns when the driver makes it; the device looks the value up.
#ifndef CRSAN_ABI_TENSORMAP_H
#define CRSAN_ABI_TENSORMAP_H

#include <cstddef>
#include <cstdint>

namespace crsan::abi {

/// A tensor, and the box of it that a copy copies. Dimension 0 is the
/// innermost; sizes and boxes are in elements.
struct alignas(256) TensorMap {
  uint64_t Bits[16]; ///< The value.
  uint64_t Base;     ///< The address of the tensor.
  uint64_t Sizes[5];
  /// Of the dimensions from 1 on: bytes from one index to the next.
  uint64_t Strides[4];
  uint32_t Box[5];
  uint16_t Rank;
  /// The elements of a row of the box do not keep their order in shared memory,
  /// but stay in the bytes of the row.
  uint8_t IsSwizzled;
  uint8_t ElementBytes;
  uint32_t IsComplete; ///< Written last: 1.
};
static_assert(sizeof(TensorMap) == 256 && offsetof(TensorMap, Bits) == 0 &&
              offsetof(TensorMap, Base) == 128 &&
              offsetof(TensorMap, Sizes) == 136 &&
              offsetof(TensorMap, Strides) == 176 &&
              offsetof(TensorMap, Box) == 208 &&
              offsetof(TensorMap, Rank) == 228 &&
              offsetof(TensorMap, IsSwizzled) == 230 &&
              offsetof(TensorMap, ElementBytes) == 231 &&
              offsetof(TensorMap, IsComplete) == 232);

/// A table of tensor maps in memory of the host, one per context: a map is in
/// one of MapProbes entries, from the one on that its hash names. The next map
/// with that hash comes behind it. Entries never change.
inline constexpr uint32_t NumTensorMaps = 2048, MapProbes = 8;

/// A hash of all words of the value, begun with 0.
inline constexpr uint64_t addToMapHash(uint64_t Hash, uint64_t Word) {
  Hash = (Hash ^ Word) * 0x9e3779b97f4a7c15ull;
  return Hash ^ Hash >> 29;
}
/// Where the map of a hash is, or the `Probe`th one of that hash.
inline constexpr uint32_t mapIndex(uint64_t Hash, uint32_t Probe) {
  return (uint32_t(Hash >> 20) + Probe) % NumTensorMaps;
}

} // namespace crsan::abi

#endif // CRSAN_ABI_TENSORMAP_H
