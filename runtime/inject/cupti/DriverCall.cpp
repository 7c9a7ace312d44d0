// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of the driver.

#include "cupti/DriverCall.h"

#include "common/Driver.h"

namespace crsan {

CUcontext DriverCall::contextOf(CUstream Stream) const {
  Driver &D = theDriver();
  const bool IsSpecial =
      !Stream || Stream == CU_STREAM_LEGACY || Stream == CU_STREAM_PER_THREAD;
  CUcontext Ctx = nullptr;
  if (IsSpecial || !D.cuStreamGetCtx ||
      D.cuStreamGetCtx(Stream, &Ctx) != CUDA_SUCCESS || !Ctx)
    return Data.context;
  return Ctx;
}

} // namespace crsan
