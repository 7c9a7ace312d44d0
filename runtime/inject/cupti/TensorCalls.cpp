// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that make tensor maps.

#include "cupti/TensorCalls.h"

#include "session/TensorMaps.h"

#include <cstring>

namespace crsan {

void tensorMapMade(const cuTensorMapEncodeTiled_params &Call) {
  const TiledTensor Of = {.Type = Call.tensorDataType,
                          .Rank = Call.tensorRank,
                          .Base = Call.globalAddress,
                          .Sizes = Call.globalDim,
                          .Strides = Call.globalStrides,
                          .Box = Call.boxDim,
                          .ElementStrides = Call.elementStrides,
                          .Interleave = Call.interleave,
                          .Swizzle = Call.swizzle};
  if (const auto New = describe(*Call.tensorMap, Of))
    tensorMaps().add(*New);
}

void replacingAddress(const DriverCall &C,
                      const cuTensorMapReplaceAddress_params &Call) {
  C.kept() = reinterpret_cast<uint64_t>(
      Call.tensorMap ? tensorMaps().find(*Call.tensorMap) : nullptr);
}

void addressReplaced(const DriverCall &C,
                     const cuTensorMapReplaceAddress_params &Call) {
  const auto *Old = reinterpret_cast<const abi::TensorMap *>(C.kept());
  if (!Old)
    return;
  abi::TensorMap New = *Old;
  std::memcpy(New.Bits, Call.tensorMap, sizeof(New.Bits));
  New.Base = reinterpret_cast<uint64_t>(Call.globalAddress);
  tensorMaps().add(New);
}

} // namespace crsan
