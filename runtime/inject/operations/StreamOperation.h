// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills by the API.
#ifndef CRSAN_INJECT_OPERATIONS_STREAMOPERATION_H
#define CRSAN_INJECT_OPERATIONS_STREAMOPERATION_H

#include "order/StreamOrder.h"

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace crsan {

/// What an operation reads, or what it writes: rows of bytes.
struct OperationMemory {
  /// What the call says of it. None: no memory, or an array, which kernels
  /// reach by textures and surfaces only.
  enum class Kind : uint8_t { None, Device, Host, Either } What = Kind::None;
  uint64_t Base = 0;
  uint64_t Width = 0;             ///< Bytes of a row.
  uint64_t Height = 1, Depth = 1; ///< Rows of a slice, and slices.
  uint64_t Pitch = 0, Slice = 0;  ///< Bytes to the next row, and slice.

  bool isEmpty() const { return !Width || !Height || !Depth; }
  /// Bytes from the first to the last.
  uint64_t extent() const {
    return isEmpty() ? 0 : (Depth - 1) * Slice + (Height - 1) * Pitch + Width;
  }
  uint64_t bytes() const { return Width * Height * Depth; }
  /// No byte is in two rows.
  bool isRegular() const {
    return (Height <= 1 || Pitch >= Width) &&
           (Depth <= 1 || Slice >= (Height - 1) * Pitch + Width);
  }
};

/// A copy, a fill, or a free in the order of a stream.
struct StreamOperation {
  const char *Name; ///< The function of the runtime API: "cudaMemcpyAsync".
  StreamId Stream;
  CUstream Handle; ///< The stream, as functions of the driver take it.
  OperationMemory Reads = {}, Writes = {};
  bool Waits = false; ///< When the call returns, the operation is over.
};

/// What of an operation is kept while its call lasts.
enum OperationFlags : uint64_t {
  IsStoodIn = 1, ///< A kernel checks it.
  TellsHost = 2, ///< The host may know at once that it is over.
};

/// Why an operation is not checked.
enum class NoCheck : uint8_t {
  Memory,   ///< It is of memory that is not known to be the context's.
  Captured, ///< Its stream is captured into a graph.
  Early,    ///< No instrumented code of its context is loaded yet.
  Order,    ///< The order of launches is not known.
  Waiting,  ///< A kernel that may wait for it may be running.
  Code,     ///< The kernel that checks is not loaded.
  Places,   ///< Too many places of the program have operations.
  Batch,    ///< It is one of several that one call makes.
  Refused,  ///< The driver has refused to launch that kernel.
};
inline constexpr size_t NumNoChecks = size_t(NoCheck::Refused) + 1;

/// How many operations were checked, and how many were not.
struct OperationCounts {
  uint64_t Checked = 0;
  std::array<uint64_t, NumNoChecks> Unchecked{}; ///< By NoCheck.
};

} // namespace crsan

#endif // CRSAN_INJECT_OPERATIONS_STREAMOPERATION_H
