// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a block takes of a multiprocessor.
#ifndef CRSAN_SIM_FOOTPRINT_H
#define CRSAN_SIM_FOOTPRINT_H

#include "Grid.h"

namespace crsan::sim {

inline uint32_t sharedBytes(const Launch &L) {
  return L.Kernel->StaticShared + L.DynamicShared;
}

inline uint32_t sharedTaken(const Launch &L) {
  return (sharedBytes(L) + 127) / 128 * 128 + 1024; // As the driver reserves.
}

inline uint32_t threadsTaken(const Launch &L) {
  return uint32_t((L.Block.count() + WarpSize - 1) / WarpSize * WarpSize);
}

} // namespace crsan::sim

#endif // CRSAN_SIM_FOOTPRINT_H
