// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUPTI's callbacks.
#ifndef CRSAN_INJECT_CUPTI_CALLBACKS_H
#define CRSAN_INJECT_CUPTI_CALLBACKS_H

#include "cupti/Cupti.h"

namespace crsan {

class Session;

/// Subscribes to exactly those calls that the session needs to know of. Returns
/// CUPTI's error; nothing is subscribed then.
CUptiResult subscribe(const Cupti &Api, Session &Target);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_CALLBACKS_H
