// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Driver functions that the library calls.
//
// The library does not link with the driver. The driver loads the library,
// which must also load on machines without a driver, for
// `CRSAN_OPTIONS=help=1`.
#ifndef CRSAN_INJECT_COMMON_DRIVER_H
#define CRSAN_INJECT_COMMON_DRIVER_H

#include <cuda.h>

#include <string>

namespace crsan {

#define CRSAN_DRIVER_REQUIRED(X)                                               \
  X(cuGetErrorName)                                                            \
  X(cuGetErrorString)                                                          \
  X(cuCtxGetCurrent)                                                           \
  X(cuCtxPushCurrent)                                                          \
  X(cuCtxPopCurrent)                                                           \
  X(cuCtxGetDevice)                                                            \
  X(cuCtxSynchronize)                                                          \
  X(cuDeviceGetAttribute)                                                      \
  X(cuDevicePrimaryCtxGetState)                                                \
  X(cuThreadExchangeStreamCaptureMode)                                         \
  X(cuMemAlloc)                                                                \
  X(cuMemHostRegister)                                                         \
  X(cuMemHostGetDevicePointer)                                                 \
  X(cuMemsetD8Async)                                                           \
  X(cuMemsetD16Async)                                                          \
  X(cuMemcpyHtoDAsync)                                                         \
  X(cuMemcpyDtoHAsync)                                                         \
  X(cuStreamCreate)                                                            \
  X(cuStreamSynchronize)                                                       \
  X(cuModuleGetGlobal)

/// Null where the driver is too old for them.
#define CRSAN_DRIVER_OPTIONAL(X)                                               \
  X(cuCtxGetId)                                                                \
  X(cuCtxGetLimit)                                                             \
  X(cuCtxSetLimit)                                                             \
  X(cuFuncGetModule)                                                           \
  X(cuStreamGetCtx)                                                            \
  X(cuFuncGetAttribute)                                                        \
  X(cuFuncSetAttribute)                                                        \
  X(cuKernelGetAttribute)                                                      \
  X(cuKernelSetAttribute)                                                      \
  X(cuKernelGetLibrary)                                                        \
  X(cuLibraryGetKernel)                                                        \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                               \
  X(cuLibraryGetManaged)                                                       \
  X(cuStreamIsCapturing)                                                       \
  X(cuStreamWriteValue32)                                                      \
  X(cuStreamWaitEvent)                                                         \
  X(cuEventCreate)                                                             \
  X(cuEventRecord)                                                             \
  X(cuEventQuery)                                                              \
  X(cuEventDestroy)                                                            \
  X(cuModuleLoadData)                                                          \
  X(cuModuleGetFunction)                                                       \
  X(cuLaunchKernel)                                                            \
  X(cuFuncGetParamInfo)                                                        \
  X(cuKernelGetParamInfo)                                                      \
  X(cuMemGetAddressRange)                                                      \
  X(cuMemGetInfo)                                                              \
  X(cuMemFree)                                                                 \
  X(cuMemHostUnregister)                                                       \
  X(cuStreamDestroy)                                                           \
  X(cuStreamQuery)                                                             \
  X(cuMemAllocManaged)                                                         \
  X(cuMemAddressReserve)                                                       \
  X(cuMemCreate)                                                               \
  X(cuMemMap)                                                                  \
  X(cuMemUnmap)                                                                \
  X(cuMemRelease)                                                              \
  X(cuMemSetAccess)                                                            \
  X(cuLibraryGetGlobal)                                                        \
  X(cuLibraryGetModule)

struct Driver {
#define CRSAN_DECLARE(Function) decltype(&::Function) Function = nullptr;
  CRSAN_DRIVER_REQUIRED(CRSAN_DECLARE)
  CRSAN_DRIVER_OPTIONAL(CRSAN_DECLARE)
#undef CRSAN_DECLARE

  /// Returns what is missing, or an empty string.
  std::string load();

  /// Asks for an attribute of a CUfunction or a CUkernel, and sets one.
  CUresult attribute(CUfunction_attribute Which, CUfunction Function,
                     CUdevice Device, int &Value) const;
  CUresult setAttribute(CUfunction_attribute Which, CUfunction Function,
                        CUdevice Device, int Value) const;

  /// "CUDA_ERROR_ASSERT".
  std::string errorName(CUresult Result) const;
  /// "CUDA_ERROR_ASSERT (device-side assert triggered)".
  std::string errorText(CUresult Result) const;
};

/// The process's driver, empty before it is loaded.
Driver &theDriver();

/// True while the library itself calls the driver on this thread. Callbacks of
/// such calls must not be taken for the program's.
bool inOwnCall();

/// Marks driver calls of this scope as the library's own. Makes Context
/// current, and the calls legal even while the program captures a stream.
class OwnCalls {
public:
  explicit OwnCalls(CUcontext Context);
  ~OwnCalls();
  OwnCalls(const OwnCalls &) = delete;
  OwnCalls &operator=(const OwnCalls &) = delete;

  /// Context could be made current.
  bool ok() const { return Ok; }

private:
  bool Ok = false;
  bool Pushed = false;
  CUstreamCaptureMode Mode = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// Whether the stream is captured into a graph, or that cannot be told.
bool isCapturing(CUstream Stream);

/// Whether the error means that a kernel has failed and made its context
/// unusable: every later call in the context returns the error, too.
bool isSticky(CUresult Result);

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_DRIVER_H
