// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch as the program asks for it.
#ifndef CRSAN_SIM_LAUNCH_H
#define CRSAN_SIM_LAUNCH_H

#include "Process.h"

namespace crsan::api {

struct LaunchRequest {
  CUkern_st *Kernel = nullptr;
  dim3 Grid, Block;
  size_t Shared = 0;
  void **Arguments = nullptr;
  dim3 Cluster{1, 1, 1};
  bool HasCluster = false;
  bool IsCooperative = false;
  bool MayOverlap = false; ///< Launch::MayOverlap
};

/// Checks the request against the kernel and the device, with the errors that
/// CUDA gives, and takes the arguments' values.
cudaError_t prepareLaunch(Process &P, Device &D, const LaunchRequest &R,
                          Launch &Result);

Dim3 dims(dim3 D);

/// The dynamic shared memory that a block of the kernel may have, in bytes.
size_t dynamicLimit(const CUkern_st &Kernel, const KernelInfo &Info,
                    const Device &D);

/// Blocks that the device runs at a time.
uint64_t residentBlocks(const Device &D, const KernelInfo &Info,
                        uint64_t Threads, size_t Shared);

/// What a launch's attributes ask for.
cudaError_t readAttributes(const cudaLaunchConfig_t &C, LaunchRequest &R);

} // namespace crsan::api

#endif // CRSAN_SIM_LAUNCH_H
