// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What nvcc makes and clang does not: -lib, -fatbin and -dlink.
//
// -dlink makes an object with the linked device code of other objects, and with
// the code that registers it when the program starts. clang-linker-wrapper
// makes such code, but hands it to the link of the program at once. So that
// link is made with nothing but that code: the objects are in an archive, of
// which the host's linker takes no member, since nothing refers to one, and
// which it links into a relocatable object.
//
// Any linker makes a program of the objects and that one. CRSan's own link
// finds it among the objects by its symbols, one for each of their device
// images (DeviceCode.h), and links no device code a second time.
#ifndef CRSAN_DRIVER_NVCCSTEPS_H
#define CRSAN_DRIVER_NVCCSTEPS_H

#include "CommandLine.h"
#include "Installation.h"
#include "Job.h"
#include "NvccCommand.h"
#include "RaceOptions.h"

#include "llvm/Support/Error.h"

namespace crsan::driver {

/// The commands that do what \p Nvcc asks, of which \p Line are the words.
llvm::Expected<Plan> planNvccCommand(const NvccCommand &Nvcc,
                                     const CommandLine &Line,
                                     const RaceOptions &Options,
                                     const Installation &Where);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_NVCCSTEPS_H
