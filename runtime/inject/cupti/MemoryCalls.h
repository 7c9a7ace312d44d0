//===- MemoryCalls.h - What the program allocates and frees -----*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_CUPTI_MEMORYCALLS_H
#define CRSAN_INJECT_CUPTI_MEMORYCALLS_H

#include <cupti.h>

#include <span>

namespace crsan {

class Session;

/// The driver's calls that give or take memory that kernels may touch.
std::span<const CUpti_driver_api_trace_cbid> memoryCalls();

/// Ctx: of the stream that the call names, else the current one.
void onMemoryCall(Session &S, CUpti_CallbackId Id,
                  const CUpti_CallbackData &Call, CUcontext Ctx);

/// The stream of such a call, or null.
CUstream memoryStreamOf(CUpti_CallbackId Id, const void *Params);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_MEMORYCALLS_H
