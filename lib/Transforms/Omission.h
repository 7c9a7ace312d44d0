//===- Omission.h - Telling what is not checked -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_OMISSION_H
#define CRSAN_TRANSFORMS_OMISSION_H

#include "Access.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"

namespace crsan {

/// Counts and remarks an access that is not checked; true if that matters to
/// the user: private memory cannot race, and strong accesses are not weak.
bool noteSkipped(const llvm::Instruction &I, Skip Reason,
                 llvm::OptimizationRemarkEmitter &ORE);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_OMISSION_H
