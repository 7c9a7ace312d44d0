// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocation of device memory.
#ifndef CRSAN_SIM_DEVICEMEMORY_H
#define CRSAN_SIM_DEVICEMEMORY_H

#include "Process.h"

namespace crsan::api {

/// `Pool`: counts the memory as its own; may be null. `OfGraph`: the memory is
/// there once a launch gets to its allocation; null: at once.
cudaError_t allocateDevice(Process &P, Device &D, void **Result, size_t Size,
                           CUmemPoolHandle_st *Pool,
                           std::shared_ptr<GraphMemory> OfGraph = nullptr);

} // namespace crsan::api

#endif // CRSAN_SIM_DEVICEMEMORY_H
