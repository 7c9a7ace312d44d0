// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the driver that make tensor maps.

#include "TensorMaps.h"

#include "Process.h"
#include "TensorMap.h"
#include "common/Log.h"
#include "session/TensorMaps.h"

#include <cstring>

namespace crsan::api {

static ptx::ScalarType typeOf(CUtensorMapDataType Type) {
  using ptx::ScalarType;
  switch (Type) {
  case CU_TENSOR_MAP_DATA_TYPE_UINT8:
    return ScalarType::U8;
  case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    return ScalarType::U16;
  case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    return ScalarType::U32;
  case CU_TENSOR_MAP_DATA_TYPE_INT32:
    return ScalarType::S32;
  case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    return ScalarType::U64;
  case CU_TENSOR_MAP_DATA_TYPE_INT64:
    return ScalarType::S64;
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    return ScalarType::F16;
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    return ScalarType::F32;
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
    return ScalarType::F64;
  case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    return ScalarType::BF16;
  default:
    return ScalarType::None;
  }
}

/// What the driver refuses. Dimensions are checked by their order of
/// magnitude, as the documentation of cuTensorMapEncodeTiled has it.
static bool isValid(const TiledTensor &T) {
  if (T.Rank < 1 || T.Rank > sim::TensorMap::MaxRank ||
      reinterpret_cast<uint64_t>(T.Base) % 16)
    return false;
  for (uint32_t D = 0; D < T.Rank; ++D)
    if (T.Sizes[D] == 0 || T.Sizes[D] > uint64_t(1) << 32 || T.Box[D] == 0 ||
        T.Box[D] > 256 || T.ElementStrides[D] == 0 || T.ElementStrides[D] > 8 ||
        (D > 0 && (T.Strides[D - 1] % 16 || T.Strides[D - 1] >> 40)))
      return false;
  return true;
}

/// A map's value is the simulated GPU's own.
static CUresult
encodeTiled(CUtensorMap *Map, CUtensorMapDataType Type, cuuint32_t Rank,
            void *Base, const cuuint64_t *Sizes, const cuuint64_t *Strides,
            const cuuint32_t *Box, const cuuint32_t *ElementStrides,
            CUtensorMapInterleave Interleave, CUtensorMapSwizzle Swizzle,
            CUtensorMapL2promotion, CUtensorMapFloatOOBfill Fill) {
  const TiledTensor Of = {Type, Rank,           Base,       Sizes,  Strides,
                          Box,  ElementStrides, Interleave, Swizzle};
  if (!Map || !isValid(Of))
    return CUDA_ERROR_INVALID_VALUE;
  std::optional<abi::TensorMap> Known = describe(*Map, Of);
  if (Known && Box[0] * Known->ElementBytes % 16)
    return CUDA_ERROR_INVALID_VALUE;
  sim::TensorMap New;
  New.Type = typeOf(Type);
  if (!Known || New.Type == ptx::ScalarType::None ||
      Swizzle > CU_TENSOR_MAP_SWIZZLE_128B ||
      Fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
    theLog().say("cuTensorMapEncodeTiled: the simulated GPU has no tensor maps "
                 "of this type, layout, swizzling or filling");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  New.Base = Known->Base;
  New.Rank = uint8_t(Rank);
  New.Strides[0] = Known->ElementBytes;
  for (uint32_t D = 0; D < Rank; ++D) {
    New.Sizes[D] = Sizes[D];
    New.Box[D] = Box[D];
    if (D > 0)
      New.Strides[D] = Strides[D - 1];
  }
  if (Known->IsSwizzled)
    New.Swizzle = uint8_t(New.rowBytes());
  std::memset(Map, 0, sizeof(*Map));
  std::memcpy(Map, &New, sizeof(New));
  // The library sees this call as it sees the driver's.
  std::memcpy(Known->Bits, Map, sizeof(Known->Bits));
  if (Process::get().session())
    tensorMaps().add(*Known);
  return CUDA_SUCCESS;
}

void *tensorFunction(std::string_view Name) {
  static_assert(std::is_same_v<decltype(&encodeTiled),
                               decltype(&cuTensorMapEncodeTiled)>);
  return Name == "cuTensorMapEncodeTiled"
             ? reinterpret_cast<void *>(&encodeTiled)
             : nullptr;
}

} // namespace crsan::api
