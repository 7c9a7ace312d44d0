//===- OrderCalls.h - Driver calls that order launches ----------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_CUPTI_ORDERCALLS_H
#define CRSAN_INJECT_CUPTI_ORDERCALLS_H

#include "session/Session.h"

#include <cupti.h>

#include <optional>
#include <vector>

namespace crsan {

struct Cupti;

/// The driver's calls that may order launches: all but those that are known to
/// be of no interest.
std::vector<CUpti_CallbackId> orderCalls(const Cupti &Api);

/// Launches are told of elsewhere, and so is what waits for a whole context.
void onOrderCall(Session &S, CUpti_CallbackId Id,
                 const CUpti_CallbackData &Call);

/// A call that launches a kernel. None: its place in the order is not known.
std::optional<OrderedLaunch> orderedLaunch(Session &S, CUpti_CallbackId Id,
                                           const CUpti_CallbackData &Call,
                                           CUcontext Ctx);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_ORDERCALLS_H
