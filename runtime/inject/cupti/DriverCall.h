// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of the driver.
#ifndef CRSAN_INJECT_CUPTI_DRIVERCALL_H
#define CRSAN_INJECT_CUPTI_DRIVERCALL_H

#include "operations/StreamOperation.h"
#include "order/StreamOrder.h"

#include <cupti.h>

#include <cstdint>

namespace crsan {

class Session;

/// A call of the driver by the program, at its enter or at its exit.
struct DriverCall {
  Session &S;
  const CUpti_CallbackData &Data;
  /// A null stream means the default stream of the thread.
  bool IsPerThread = false;

  bool isEnter() const { return Data.callbackSite == CUPTI_API_ENTER; }
  /// At exit.
  CUresult result() const {
    return *static_cast<const CUresult *>(Data.functionReturnValue);
  }
  /// A value that is kept from the enter to the exit.
  uint64_t &kept() const { return *Data.correlationData; }

  /// The context of a stream: a kernel of a CUlibrary runs there, whatever
  /// context is current.
  CUcontext contextOf(CUstream Stream) const;
  StreamId idOf(CUstream Stream) const {
    return StreamId::of(Stream, IsPerThread);
  }
  /// The stream, for functions of the driver whose null stream is the legacy
  /// default one.
  CUstream handleOf(CUstream Stream) const {
    return IsPerThread && !Stream ? CU_STREAM_PER_THREAD : Stream;
  }
  /// An operation of the stream that accesses nothing yet.
  StreamOperation operation(const char *Name, CUstream Stream) const {
    return {.Name = Name, .Stream = idOf(Stream), .Handle = handleOf(Stream)};
  }
};

/// At the enter of a call: lets the driver read another value where the program
/// gave one. CUPTI does not promise that the driver does so. If a driver does
/// not, the program's own code is loaded, or its own kernel launched.
template <typename T> void replace(const T &Parameter, T Value) {
  const_cast<T &>(Parameter) = Value;
}

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_DRIVERCALL_H
