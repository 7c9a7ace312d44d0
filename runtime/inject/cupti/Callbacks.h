//===- Callbacks.h - CUPTI's callbacks -> events ----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_CUPTI_CALLBACKS_H
#define CRSAN_INJECT_CUPTI_CALLBACKS_H

#include "cupti/Cupti.h"

namespace crsan {

class Session;

/// Subscribes and asks for exactly the calls that the session needs to know of.
/// Returns CUPTI's error; nothing is subscribed then.
CUptiResult subscribe(const Cupti &Api, Session &Target);

/// The context a stream belongs to: a kernel of a CUlibrary runs there,
/// whatever context is current.
CUcontext contextOf(CUstream Stream, const CUpti_CallbackData &Call);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_CALLBACKS_H
