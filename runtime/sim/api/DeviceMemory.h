// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocation of device memory.
#ifndef CRSAN_SIM_DEVICEMEMORY_H
#define CRSAN_SIM_DEVICEMEMORY_H

#include "Process.h"

namespace crsan::api {

/// `Pool`: counts the memory as its own; may be null.
cudaError_t allocateDevice(Process &P, Device &D, void **Result, size_t Size,
                           CUmemPoolHandle_st *Pool);

} // namespace crsan::api

#endif // CRSAN_SIM_DEVICEMEMORY_H
