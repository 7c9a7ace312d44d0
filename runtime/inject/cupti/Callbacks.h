// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUPTI's callbacks.
#ifndef CRSAN_INJECT_CUPTI_CALLBACKS_H
#define CRSAN_INJECT_CUPTI_CALLBACKS_H

#include "cupti/Cupti.h"

namespace crsan {

class Session;

/// Subscribes to exactly those calls that the session needs to know of. `Api`
/// has to live as long as `Target`. Returns
/// CUPTI's error; nothing is subscribed then. `AreRefusalsTold`: the program
/// tells of launches that the run-time library refuses (launchRefused), so that
/// callbacks of that library, which take about 1 us of a launch, are needed for
/// graphs only.
CUptiResult subscribe(const Cupti &Api, Session &Target, bool AreRefusalsTold);

/// A launch of this thread has failed with an error of the run-time library.
/// Counts it as failed, unless the driver has refused the last launch of
/// this thread that has reached the driver, which was counted then. `Kernel`:
/// its mangled name, or null.
void launchRefused(Session &S, const char *Kernel, int Error);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_CALLBACKS_H
