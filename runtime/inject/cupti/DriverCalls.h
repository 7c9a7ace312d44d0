// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All calls of the driver.
#ifndef CRSAN_INJECT_CUPTI_DRIVERCALLS_H
#define CRSAN_INJECT_CUPTI_DRIVERCALLS_H

#include <cupti.h>

#include <vector>

namespace crsan {

class Session;
struct Cupti;

/// The calls that the session has to be told of: those that DriverCalls.def
/// lists, and all that may order launches.
struct CallsToTell {
  std::vector<CUpti_CallbackId> Always;
  /// Once LaunchOrdering::OnEventsNeeded is called.
  std::vector<CUpti_CallbackId> Later;
};

/// To be called once, before any call is told.
CallsToTell driverCallsToTell(const Cupti &Api);

/// Tells the session what the program's call does.
void tellDriverCall(Session &S, CUpti_CallbackId Id,
                    const CUpti_CallbackData &Data);

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_DRIVERCALLS_H
