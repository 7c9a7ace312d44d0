// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls about code and contexts.
#ifndef CRSAN_INJECT_CUPTI_CODECALLS_H
#define CRSAN_INJECT_CUPTI_CODECALLS_H

#include "cupti/DriverCall.h"

namespace crsan {

/// With what the driver is to compile PTX.
struct JitOptions {
  unsigned Count = 0;
  const CUjit_option *Names = nullptr;
  void *const *Values = nullptr;
};

/// The driver is about to load code, from an image or from a file. It reads its
/// parameters again when this returns, so that they can name code with checks
/// (Session::codeLoading). IsKept: the image must outlive the call.
void imageLoading(const DriverCall &C, const void *const &Image,
                  const JitOptions &Jit = {}, bool IsKept = false);
void fileLoading(const DriverCall &C, const char *const &File,
                 const JitOptions &Jit = {});
/// The call is over.
void loadingOver(const DriverCall &C);

/// Bytes: what the code was loaded from; null: a file.
void libraryLoaded(const DriverCall &C, CUlibrary Library, const void *Bytes);
void moduleLoaded(const DriverCall &C, CUmodule Module, const void *Bytes);

/// The program waits for all work of a context, and has done so, or has failed.
void contextSynchronising(const DriverCall &C, CUcontext Ctx);
void contextSynchronised(const DriverCall &C, CUcontext Ctx);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_CODECALLS_H
