// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that copy or fill.
#ifndef CRSAN_INJECT_CUPTI_OPERATIONCALLS_H
#define CRSAN_INJECT_CUPTI_OPERATIONCALLS_H

#include "cupti/DriverCall.h"
#include "cupti/MemoryCalls.h"

namespace crsan {

/// At the enter of a call, and at its exit.
void operation(const DriverCall &C, const StreamOperation &Op, CUstream Stream);

OperationMemory deviceRow(CUdeviceptr Base, uint64_t Bytes);
OperationMemory hostRow(const void *Base, uint64_t Bytes);
/// Memory of the host or of a device.
OperationMemory eitherRow(CUdeviceptr Base, uint64_t Bytes);
OperationMemory devicePlane(CUdeviceptr Base, uint64_t Pitch, uint64_t Width,
                            uint64_t Height);

/// Copies in one dimension. `Stream` null and `Waits`: the default stream.
void copyCall(const DriverCall &C, const char *Name, const OperationMemory &To,
              const OperationMemory &From, CUstream Stream, bool Waits);
/// Copies of boxes.
void copyCall(const DriverCall &C, const char *Name, const CUDA_MEMCPY2D *Box,
              CUstream Stream, bool Waits);
void copyCall(const DriverCall &C, const char *Name, const CUDA_MEMCPY3D *Box,
              CUstream Stream, bool Waits);
void copyCall(const DriverCall &C, const char *Name,
              const CUDA_MEMCPY3D_PEER *Box, CUstream Stream, bool Waits);
void fillCall(const DriverCall &C, const char *Name, const OperationMemory &To,
              CUstream Stream);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_OPERATIONCALLS_H
