//===- Copy.h - Copies and fills as operations ------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_SIM_COPY_H
#define CRSAN_SIM_COPY_H

#include "Process.h"

namespace crsan::api {

/// For the nodes of graphs. Checked as the calls of that name.
cudaError_t makeCopy(Process &P, const cudaMemcpy3DParms &Params, HostOp &Op);
cudaError_t makeFill(Process &P, const cudaMemsetParams &Params, HostOp &Op);

} // namespace crsan::api

#endif // CRSAN_SIM_COPY_H
