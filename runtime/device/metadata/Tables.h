// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the tables of metadata mode are.
#ifndef CRSAN_DEVICE_METADATA_TABLES_H
#define CRSAN_DEVICE_METADATA_TABLES_H

#include "common/Memory.h"
#include "crsan/abi/Check.h"
#include "crsan/abi/Metadata.h"

namespace crsan::device {

/// Whether the host runs this context in metadata mode.
DEVICE bool isShadowed() { return __crsan_config.Flags & Shadowed; }

/// The head of the metadata of this context.
DEVICE Metadata &metadata() {
  return *reinterpret_cast<Metadata *>(__crsan_config.Metadata);
}

/// The table at `Offset` bytes from the head of the metadata.
template <typename T> DEVICE T *table(uint64_t Offset) {
  return reinterpret_cast<T *>(__crsan_config.Metadata + Offset);
}

/// Not 0: code may synchronise that is not followed. So may a grid that is not
/// (Sampled) and runs beside this one.
DEVICE uint32_t foreign() {
  const uint32_t Beside =
      __crsan_config.Flags & Sampled ? loadRelaxed(metadata().HasOverlaps) : 0;
  return loadRelaxed(metadata().Foreign) | Beside;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_TABLES_H
