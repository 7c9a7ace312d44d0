// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills as operations.
#ifndef CRSAN_SIM_COPY_H
#define CRSAN_SIM_COPY_H

#include "Box.h"

namespace crsan::api {

/// What a copy or fill of that name is to the session.
StreamOperation operationOf(const char *Name, const StreamRef &S);
OperationMemory memoryOf(const Side &S, const Box &B);

/// Copies in the order of a stream, and waits as long as the call of that name.
cudaError_t copyBox(Process &P, const char *Name, const Box &B,
                    cudaMemcpyKind Kind, cudaStream_t Handle, bool IsAsync);

/// For the nodes of graphs. Checked as the calls of that name.
cudaError_t makeCopy(Process &P, const cudaMemcpy3DParms &Params, HostOp &Op);
cudaError_t makeFill(Process &P, const cudaMemsetParams &Params, HostOp &Op);

} // namespace crsan::api

#endif // CRSAN_SIM_COPY_H
