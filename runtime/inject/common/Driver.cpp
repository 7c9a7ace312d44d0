// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's functions that the library calls.

#include "common/Driver.h"

#include <dlfcn.h>

namespace crsan {

Driver &theDriver() {
  static Driver *TheDriver = new Driver;
  return *TheDriver;
}

std::string Driver::load() {
  void *Library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!Library)
    Library = dlopen("libcuda.so.1", RTLD_NOW);
  auto Find = [Library](const char *Name) {
    void *Address = Library ? dlsym(Library, Name) : nullptr;
    return Address ? Address : dlsym(RTLD_DEFAULT, Name);
  };
#define CRSAN_NAME_(Function) #Function
#define CRSAN_NAME(Function) CRSAN_NAME_(Function)
#define CRSAN_LOAD_OPTIONAL(Function)                                          \
  this->Function =                                                             \
      reinterpret_cast<decltype(&::Function)>(Find(CRSAN_NAME(Function)));
#define CRSAN_LOAD(Function)                                                   \
  CRSAN_LOAD_OPTIONAL(Function)                                                \
  if (!this->Function)                                                         \
    return CRSAN_NAME(Function);
  CRSAN_DRIVER_OPTIONAL(CRSAN_LOAD_OPTIONAL)
  CRSAN_DRIVER_REQUIRED(CRSAN_LOAD)
#undef CRSAN_LOAD
#undef CRSAN_LOAD_OPTIONAL
#undef CRSAN_NAME
#undef CRSAN_NAME_
  return {};
}

std::string Driver::errorName(CUresult Result) const {
  const char *Name = nullptr;
  if (!cuGetErrorName || cuGetErrorName(Result, &Name) != CUDA_SUCCESS || !Name)
    return "error " + std::to_string(int(Result));
  return Name;
}

std::string Driver::errorText(CUresult Result) const {
  const char *Text = nullptr;
  if (!cuGetErrorString || cuGetErrorString(Result, &Text) != CUDA_SUCCESS ||
      !Text)
    return errorName(Result);
  return errorName(Result) + " (" + Text + ")";
}

static thread_local unsigned OwnDepth = 0;

bool inOwnCall() { return OwnDepth != 0; }

OwnCalls::OwnCalls(CUcontext Context) {
  ++OwnDepth;
  Driver &D = theDriver();
  CUcontext Current = nullptr;
  CUresult Result = D.cuCtxGetCurrent(&Current);
  if (Result == CUDA_SUCCESS && Current != Context) {
    Result = D.cuCtxPushCurrent(Context);
    Pushed = Result == CUDA_SUCCESS;
  }
  Ok = Result == CUDA_SUCCESS;
  if (D.cuThreadExchangeStreamCaptureMode(&Mode) != CUDA_SUCCESS)
    Mode = CU_STREAM_CAPTURE_MODE_RELAXED;
}

OwnCalls::~OwnCalls() {
  Driver &D = theDriver();
  D.cuThreadExchangeStreamCaptureMode(&Mode);
  if (Pushed) {
    CUcontext Popped = nullptr;
    D.cuCtxPopCurrent(&Popped);
  }
  --OwnDepth;
}

CUresult Driver::attribute(CUfunction_attribute Which, CUfunction Function,
                           CUdevice Device, int &Value) const {
  if (!cuFuncGetAttribute)
    return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult Result = cuFuncGetAttribute(&Value, Which, Function);
  // A handle that is no CUfunction is a CUkernel.
  return Result == CUDA_ERROR_INVALID_HANDLE && cuKernelGetAttribute
             ? cuKernelGetAttribute(
                   &Value, Which, reinterpret_cast<CUkernel>(Function), Device)
             : Result;
}

CUresult Driver::setAttribute(CUfunction_attribute Which, CUfunction Function,
                              CUdevice Device, int Value) const {
  if (!cuFuncSetAttribute)
    return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult Result = cuFuncSetAttribute(Function, Which, Value);
  return Result == CUDA_ERROR_INVALID_HANDLE && cuKernelSetAttribute
             ? cuKernelSetAttribute(
                   Which, Value, reinterpret_cast<CUkernel>(Function), Device)
             : Result;
}

bool isCapturing(CUstream Stream) {
  const Driver &D = theDriver();
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  return D.cuStreamIsCapturing &&
         (D.cuStreamIsCapturing(Stream, &Status) != CUDA_SUCCESS ||
          Status != CU_STREAM_CAPTURE_STATUS_NONE);
}

bool isSticky(CUresult Result) {
  switch (int(Result)) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case 226: // CUDA_ERROR_CONTAINED, newer than some headers.
  case 721: // CUDA_ERROR_TENSOR_MEMORY_LEAK, newer than some headers.
    return true;
  default:
    return false;
  }
}

} // namespace crsan
