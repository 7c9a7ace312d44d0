// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensor maps that the program has made.

#include "session/TensorMaps.h"

#include "common/Log.h"
#include "common/PinnedMemory.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace crsan {

/// 0: several are packed into bytes.
static uint8_t elementBytes(CUtensorMapDataType Type) {
  switch (Type) {
  case CU_TENSOR_MAP_DATA_TYPE_UINT8:
    return 1;
  case CU_TENSOR_MAP_DATA_TYPE_UINT16:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
  case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    return 2;
  case CU_TENSOR_MAP_DATA_TYPE_UINT32:
  case CU_TENSOR_MAP_DATA_TYPE_INT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
  case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
  case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
    return 4;
  case CU_TENSOR_MAP_DATA_TYPE_UINT64:
  case CU_TENSOR_MAP_DATA_TYPE_INT64:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
    return 8;
  default:
    return 0;
  }
}

/// The bytes in which swizzling moves elements; 0: it moves none.
static uint32_t swizzleBytes(CUtensorMapSwizzle Swizzle) {
  switch (Swizzle) {
  case CU_TENSOR_MAP_SWIZZLE_NONE:
    return 0;
  case CU_TENSOR_MAP_SWIZZLE_32B:
    return 32;
  case CU_TENSOR_MAP_SWIZZLE_64B:
    return 64;
  default:
    return 128;
  }
}

std::optional<abi::TensorMap> describe(const CUtensorMap &Map,
                                       const TiledTensor &Of) {
  abi::TensorMap New{};
  if (Of.Rank < 1 || Of.Rank > std::size(New.Box) ||
      Of.Interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
    return std::nullopt;
  static_assert(sizeof(New.Bits) == sizeof(Map));
  std::memcpy(New.Bits, &Map, sizeof(New.Bits));
  New.Base = reinterpret_cast<uint64_t>(Of.Base);
  New.Rank = uint16_t(Of.Rank);
  New.ElementBytes = elementBytes(Of.Type);
  for (uint32_t D = 0; D < Of.Rank; ++D) {
    New.Sizes[D] = Of.Sizes[D];
    New.Box[D] = Of.Box[D];
    // The innermost dimension has no stride.
    if (D == 0)
      continue;
    New.Strides[D - 1] = Of.Strides[D - 1];
    if (Of.ElementStrides[D] != 1)
      return std::nullopt;
  }
  // Where rows are shorter than that, shared memory has gaps.
  const uint32_t Width = swizzleBytes(Of.Swizzle);
  New.IsSwizzled = Width != 0;
  if (New.ElementBytes == 0 ||
      (Width && Width != New.Box[0] * New.ElementBytes))
    return std::nullopt;
  return New;
}

namespace {
/// The entry of a map in a table: where it is, or where it belongs; null: there
/// is no room for it.
abi::TensorMap *entryOf(abi::TensorMap *Table, const uint64_t (&Bits)[16]) {
  uint64_t Hash = 0;
  for (uint64_t Word : Bits)
    Hash = abi::addToMapHash(Hash, Word);
  for (uint32_t Probe = 0; Probe < abi::MapProbes; ++Probe) {
    abi::TensorMap &Entry = Table[abi::mapIndex(Hash, Probe)];
    if (!Entry.IsComplete || std::ranges::equal(Entry.Bits, Bits))
      return &Entry;
  }
  return nullptr;
}

/// Kernels may be reading the table.
void enter(abi::TensorMap *Table, const abi::TensorMap &New) {
  abi::TensorMap *Entry = entryOf(Table, New.Bits);
  if (!Entry || Entry->IsComplete)
    return;
  *Entry = New;
  Entry->IsComplete = 0;
  __atomic_store_n(&Entry->IsComplete, 1, __ATOMIC_RELEASE);
}
} // namespace

void TensorMaps::add(const abi::TensorMap &New) {
  std::lock_guard Guard(Lock);
  All.resize(abi::NumTensorMaps);
  enter(All.data(), New);
  for (abi::TensorMap *Table : Shared)
    enter(Table, New);
}

const abi::TensorMap *TensorMaps::find(const CUtensorMap &Map) {
  std::lock_guard Guard(Lock);
  uint64_t Bits[16];
  std::memcpy(Bits, &Map, sizeof(Bits));
  abi::TensorMap *Entry = All.empty() ? nullptr : entryOf(All.data(), Bits);
  return Entry && Entry->IsComplete ? Entry : nullptr;
}

CUdeviceptr TensorMaps::share() {
  std::string Error;
  const PinnedMemory Memory =
      PinnedMemory::make(sizeof(abi::TensorMap) * abi::NumTensorMaps, Error);
  if (!Memory.Host) {
    theLog().detail(2, "no table of tensor maps: {}", Error);
    return 0;
  }
  auto *Table = static_cast<abi::TensorMap *>(Memory.Host);
  std::lock_guard Guard(Lock);
  std::ranges::copy(All, Table);
  Shared.push_back(Table);
  return Memory.Device;
}

TensorMaps &tensorMaps() {
  static TensorMaps *const All = new TensorMaps;
  return *All;
}

} // namespace crsan
