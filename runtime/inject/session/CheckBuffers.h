// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What instrumented code writes to.
#ifndef CRSAN_INJECT_SESSION_CHECKBUFFERS_H
#define CRSAN_INJECT_SESSION_CHECKBUFFERS_H

#include "crsan/abi/Record.h"
#include "crsan/abi/Watchpoints.h"

#include <cuda.h>

#include <cstdint>
#include <string>

namespace crsan {

/// The memory of a context that instrumented code writes to, and the stream
/// that the library reads it by.
struct CheckBuffers {
  /// In pinned memory of the host: records outlive the context and its errors.
  abi::RecordBuffer *Records = nullptr;
  CUdeviceptr RecordsDevice = 0;
  /// The abi::Counters, and behind them the abi::Watchpoints.
  CUdeviceptr Counters = 0;
  /// The table of tensor maps; 0: there is none.
  CUdeviceptr TensorMaps = 0;
  /// The abi::HostWatchpoints; 0: there are none.
  CUdeviceptr HostWatchpoints = 0;
  /// Copies in this stream do not wait for the program's kernels.
  CUstream Stream = nullptr;

  /// Makes all of it. The context is current. Without records: Error says what
  /// went wrong.
  static CheckBuffers make(uint32_t MaxRecords, std::string &Error);
};

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_CHECKBUFFERS_H
