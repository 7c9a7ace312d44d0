// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host memory that kernels access.

#include "common/PinnedMemory.h"

#include "common/Driver.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include <sys/mman.h>

namespace crsan {

PinnedMemory PinnedMemory::make(size_t Bytes, std::string &Error) {
  Driver &D = theDriver();
  Bytes = (Bytes + 4095) & ~size_t(4095);
  void *Memory = mmap(nullptr, Bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (Memory == MAP_FAILED) {
    Error =
        fmt::format("no {} bytes of memory ({})", Bytes, std::strerror(errno));
    return {};
  }
  // Pinned memory must not become copy-on-write in a forked child.
  madvise(Memory, Bytes, MADV_DONTFORK);
  const char *Call = "cuMemHostRegister";
  CUdeviceptr Device = 0;
  CUresult Result = D.cuMemHostRegister(Memory, Bytes,
                                        CU_MEMHOSTREGISTER_PORTABLE |
                                            CU_MEMHOSTREGISTER_DEVICEMAP);
  const bool IsRegistered = Result == CUDA_SUCCESS;
  if (IsRegistered) {
    Call = "cuMemHostGetDevicePointer";
    Result = D.cuMemHostGetDevicePointer(&Device, Memory, 0);
  }
  if (Result == CUDA_SUCCESS)
    return {Memory, Device};
  Error = fmt::format("{} failed: {}", Call, D.errorText(Result));
  // Memory that stays registered stays mapped.
  if (!IsRegistered ||
      (D.cuMemHostUnregister && D.cuMemHostUnregister(Memory) == CUDA_SUCCESS))
    munmap(Memory, Bytes);
  return {};
}

} // namespace crsan
