// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that make tensor maps.
#ifndef CRSAN_INJECT_CUPTI_TENSORCALLS_H
#define CRSAN_INJECT_CUPTI_TENSORCALLS_H

#include "cupti/DriverCall.h"

namespace crsan {

/// A map of tiles was made.
void tensorMapMade(const cuTensorMapEncodeTiled_params &Call);

/// A map is made to name another tensor: at the call's enter, and at its exit.
void replacingAddress(const DriverCall &C,
                      const cuTensorMapReplaceAddress_params &Call);
void addressReplaced(const DriverCall &C,
                     const cuTensorMapReplaceAddress_params &Call);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_TENSORCALLS_H
