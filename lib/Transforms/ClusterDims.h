// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters whose size the source says.
#ifndef CRSAN_TRANSFORMS_CLUSTERDIMS_H
#define CRSAN_TRANSFORMS_CLUSTERDIMS_H

#include "llvm/IR/Module.h"

namespace crsan {

/// Gives each kernel the cluster's size that its `__cluster_dims__` names.
/// Clang 22 generates nothing from that attribute for NVPTX, so
/// include/crsan/cuda_compat.h makes it an annotation as well.
void setClusterDims(llvm::Module &M);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_CLUSTERDIMS_H
