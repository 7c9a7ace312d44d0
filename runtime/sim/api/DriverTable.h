// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver that the session sees.
#ifndef CRSAN_SIM_DRIVERTABLE_H
#define CRSAN_SIM_DRIVERTABLE_H

namespace crsan::api {

class Process;

/// Fills theDriver() with functions over the machines of the process, so that
/// the session (runtime/inject) works as on hardware. A CUcontext is a Device,
/// a CUlibrary an image.
void fillDriverTable(Process &P);

} // namespace crsan::api

#endif // CRSAN_SIM_DRIVERTABLE_H
