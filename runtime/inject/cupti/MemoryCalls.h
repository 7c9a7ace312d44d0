// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that allocate and free memory.
#ifndef CRSAN_INJECT_CUPTI_MEMORYCALLS_H
#define CRSAN_INJECT_CUPTI_MEMORYCALLS_H

#include "cupti/DriverCall.h"
#include "shadow/Allocations.h"

#include <cstddef>
#include <cstdint>

namespace crsan {

/// With unified addresses, the addresses of the host are those of the device.
inline uint64_t addressOf(const void *Host) {
  return reinterpret_cast<uint64_t>(Host);
}

/// Of cuMemHostRegister: the memory is that of some other device, and reading
/// it may have an effect.
inline bool isForDevices(unsigned Flags) {
  return Flags & CU_MEMHOSTREGISTER_IOMEMORY;
}

/// The program allocates memory of the stream's context, or has done so. How:
/// as MemoryRange has it.
void allocating(const DriverCall &C, size_t Bytes, CUstream Stream = nullptr);
void allocated(const DriverCall &C, uint64_t Base, size_t Bytes,
               const char *How, CUstream Stream = nullptr);
/// A node of any kind was added to a graph.
void nodeAdded(const DriverCall &C, const CUgraphNodeParams &Params);
/// The size of the allocation that begins at the address; 0: not known.
size_t sizeOfAllocation(CUdeviceptr Address);

/// The call frees memory: at its enter, and at its exit.
void freeing(const DriverCall &C, FreeCall Call);
void freeEnds(const DriverCall &C);
/// The call makes a stream free memory: at its enter, and at its exit.
void freeingByStream(const DriverCall &C, uint64_t Base, CUstream Stream);
void freeByStreamEnds(const DriverCall &C, uint64_t Base, CUstream Stream);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_MEMORYCALLS_H
