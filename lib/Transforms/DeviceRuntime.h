//===- DeviceRuntime.h - The runtime linked into each module -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_DEVICERUNTIME_H
#define CRSAN_TRANSFORMS_DEVICERUNTIME_H

#include "llvm/IR/Module.h"

namespace crsan {

/// The runtime's entry points (runtime/device/Runtime.cu).
inline constexpr char CheckName[] = "__crsan_check";
inline constexpr char StoreName[] = "__crsan_store";
inline constexpr char BlockIndexName[] = "__crsan_block_index";
/// What units of an image share, besides the configuration.
inline constexpr char PermutationsName[] = "__crsan_permutations";
/// What the runtime asks the pass for (see defineClusterExtent).
inline constexpr char ClusterExtentName[] = "__crsan_cluster_extent";

/// Links what `M` uses of the device runtime into it, with internal linkage
/// except for the configuration, which all modules of an image share.
/// Returns false after an error has been reported to the module's context.
bool linkDeviceRuntime(llvm::Module &M);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_DEVICERUNTIME_H
