// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls about code and contexts.

#include "cupti/CodeCalls.h"

#include "common/Log.h"
#include "session/Session.h"

namespace crsan {

static void loaded(const DriverCall &C, CUlibrary Library, CUmodule Module,
                   const void *Bytes) {
  theLog().detail(2, "{}: context {} (uid {})", C.Data.functionName,
                  static_cast<void *>(C.Data.context), C.Data.contextUid);
  C.S.codeLoaded(Library, Module, Bytes, C.Data.context, C.Data.contextUid);
}

void libraryLoaded(const DriverCall &C, CUlibrary Library, const void *Bytes) {
  loaded(C, Library, nullptr, Bytes);
}

void moduleLoaded(const DriverCall &C, CUmodule Module, const void *Bytes) {
  loaded(C, nullptr, Module, Bytes);
}

void contextSynchronising(const DriverCall &C, CUcontext Ctx) {
  C.kept() = C.S.ordering().awaitingIdle(Ctx);
}

void contextSynchronised(const DriverCall &C, CUcontext Ctx) {
  C.S.synchronised(Ctx, C.result());
  if (C.result() == CUDA_SUCCESS)
    C.S.becameIdle(Ctx, C.kept());
}

} // namespace crsan
