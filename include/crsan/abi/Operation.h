// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills of streams, as the device checks them.
//
// In front of such an operation the library launches a kernel of its own into
// the same stream (runtime/device/Operation.cu). What that kernel checks stands
// for what the operation is about to access.
#ifndef CRSAN_ABI_OPERATION_H
#define CRSAN_ABI_OPERATION_H

#include <cstddef>
#include <cstdint>

namespace crsan::abi {

inline constexpr char OperationKernel[] = "__crsan_operation";
/// The kernel of one thread that only waits, for so many nanoseconds as its
/// parameter (32 bits) says.
inline constexpr char PauseKernel[] = "__crsan_pause";
/// Threads of the blocks of OperationKernel.
inline constexpr uint32_t OperationBlock = 128;

/// What an operation reads, or what it writes: rows of bytes.
struct OperationSide {
  uint64_t Base;          ///< The first byte.
  uint64_t Width;         ///< Bytes of a row.
  uint64_t Pitch;         ///< Bytes from one row to the next.
  uint64_t Slice;         ///< Bytes from one slice to the next.
  uint32_t Height, Depth; ///< Rows of a slice, and slices; 0: no such side.
  /// Device addresses: the AccessSite; 0: metadata mode does not check it.
  uint64_t Access;
  /// The abi::Site, and the Sampling of its values; 0: the collider does not
  /// check it.
  uint64_t Site, Sampling;
};
static_assert(sizeof(OperationSide) == 64 &&
              offsetof(OperationSide, Base) == 0 &&
              offsetof(OperationSide, Width) == 8 &&
              offsetof(OperationSide, Pitch) == 16 &&
              offsetof(OperationSide, Slice) == 24 &&
              offsetof(OperationSide, Height) == 32 &&
              offsetof(OperationSide, Depth) == 36 &&
              offsetof(OperationSide, Access) == 40 &&
              offsetof(OperationSide, Site) == 48 &&
              offsetof(OperationSide, Sampling) == 56);

/// The parameter of the kernel.
struct Operation {
  OperationSide Reads, Writes; ///< No byte is in both.
  uint32_t Run;                ///< The number of the kernel's StreamRun.
  uint32_t Reserved;
};
static_assert(sizeof(Operation) == 136 && offsetof(Operation, Reads) == 0 &&
              offsetof(Operation, Writes) == 64 &&
              offsetof(Operation, Run) == 128 &&
              offsetof(Operation, Reserved) == 132);

/// The sites of operations that a context has room for: calls of the API by
/// place in the program, reads and writes apart.
inline constexpr uint32_t MaxOperationSites = 1024;

} // namespace crsan::abi

#endif // CRSAN_ABI_OPERATION_H
