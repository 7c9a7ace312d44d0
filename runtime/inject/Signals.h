//===- Signals.h - Reports when a signal ends the program -------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_SIGNALS_H
#define CRSAN_INJECT_SIGNALS_H

namespace crsan {

/// From now on the report appears before a deadly signal takes effect; the exit
/// status stays the signal's. A program's own handlers are respected: those for
/// requests to stop (SIGINT, SIGTERM, ...) are left in place, since such a
/// program goes on or ends in another way; those for crashes run after us.
void installSignalHandlers();

} // namespace crsan

#endif // CRSAN_INJECT_SIGNALS_H
