// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that launch kernels.
#ifndef CRSAN_INJECT_CUPTI_LAUNCHCALLS_H
#define CRSAN_INJECT_CUPTI_LAUNCHCALLS_H

#include "cupti/DriverCall.h"

namespace crsan {

// At the enter of a call, and at its exit.

void kernelLaunch(const DriverCall &C, const cuLaunchKernel_params &Launch);
void kernelLaunch(const DriverCall &C,
                  const cuLaunchCooperativeKernel_params &Launch);
void kernelLaunch(const DriverCall &C, const cuLaunchKernelEx_params &Launch);
/// A launch by a function that is deprecated, of which the order is not known.
void oldLaunch(const DriverCall &C);
void graphLaunch(const DriverCall &C, CUstream Stream);

/// Whether this thread's last launch has failed in the driver, which was told;
/// not if the thread was asked to forget it.
bool wasLaunchRefused();
void forgetRefusedLaunch();

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_LAUNCHCALLS_H
