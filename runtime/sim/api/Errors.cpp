// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last error, and what errors are called.

#include "Process.h"

#include <utility>

using namespace crsan::api;

/// A failed kernel's error stays once the thread has seen it; another is gone
/// once it is asked for.
static cudaError_t lastError(bool Clears) {
  auto &T = thisThread();
  cudaError_t Error = T.Last;
  if (Clears) {
    Process &P = Process::get();
    std::lock_guard Lock(P);
    if (Error != P.current().Sticky)
      T.Last = cudaSuccess;
  }
  return Error;
}

CRSAN_API cudaError_t cudaGetLastError() { return lastError(true); }
CRSAN_API cudaError_t cudaPeekAtLastError() { return lastError(false); }

static std::pair<const char *, const char *> textOf(cudaError_t Error) {
  switch (int(Error)) {
#define CRSAN_CUDA_ERROR(Name, Text)                                           \
  case Name:                                                                   \
    return {#Name, Text};
#include "Errors.inc"
#undef CRSAN_CUDA_ERROR
  default:
    return {"unrecognized error code", "unrecognized error code"};
  }
}

CRSAN_API const char *cudaGetErrorName(cudaError_t Error) {
  return textOf(Error).first;
}
CRSAN_API const char *cudaGetErrorString(cudaError_t Error) {
  return textOf(Error).second;
}
