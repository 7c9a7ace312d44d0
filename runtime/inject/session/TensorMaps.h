// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensor maps that the program has made.
#ifndef CRSAN_INJECT_SESSION_TENSORMAPS_H
#define CRSAN_INJECT_SESSION_TENSORMAPS_H

#include "crsan/abi/TensorMap.h"

#include <cuda.h>

#include <mutex>
#include <optional>
#include <vector>

namespace crsan {

/// What cuTensorMapEncodeTiled was given.
struct TiledTensor {
  CUtensorMapDataType Type;
  uint32_t Rank;
  const void *Base;
  const cuuint64_t *Sizes, *Strides;
  const cuuint32_t *Box, *ElementStrides;
  CUtensorMapInterleave Interleave;
  CUtensorMapSwizzle Swizzle;
};

/// What the value `Map`, which was made of it, means; nothing: where the box
/// lies in shared or global memory is not known.
std::optional<abi::TensorMap> describe(const CUtensorMap &Map,
                                       const TiledTensor &Of);

/// The maps of the process. Each context has a table of them, for the device
/// to look them up. A map is often made before there is a context.
class TensorMaps {
public:
  /// Where there is no room for it, kernels do not find it.
  void add(const abi::TensorMap &New);
  /// What is known of a map of this value, for ever; null: nothing.
  const abi::TensorMap *find(const CUtensorMap &Map);
  /// Makes a table for the current context, with all that is known and will be.
  /// Returns its address on the device; 0: it could not be made.
  CUdeviceptr share();

private:
  std::mutex Lock;
  std::vector<abi::TensorMap> All;      ///< A table; empty: there are no maps.
  std::vector<abi::TensorMap *> Shared; ///< Tables that devices read.
};

TensorMaps &tensorMaps();

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_TENSORMAPS_H
