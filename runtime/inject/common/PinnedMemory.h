// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host memory that kernels access.
#ifndef CRSAN_INJECT_COMMON_PINNEDMEMORY_H
#define CRSAN_INJECT_COMMON_PINNEDMEMORY_H

#include <cuda.h>

#include <cstddef>
#include <string>

namespace crsan {

/// Zeroed memory of the host that kernels access as well. It stays for ever,
/// for a kernel may still write to it when its context is gone.
struct PinnedMemory {
  void *Host = nullptr; ///< Null: it could not be had.
  CUdeviceptr Device = 0;

  /// The context is current. Error: what went wrong, if anything did.
  static PinnedMemory make(size_t Bytes, std::string &Error);
};

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_PINNEDMEMORY_H
